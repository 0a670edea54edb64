"""The style sheet of the report."""

STYLE = """\
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; color: #1d2733;
  max-width: 68rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.75rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; padding-top: .75rem; border-top: 1px solid #d9dee3; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .4rem 0; max-width: 48rem; }
.lead, .note, figcaption { color: #4a5561; }
.note, figcaption { font-size: .85rem; }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; margin: .75rem 0; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid #e6e9ed; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 11rem; }
th { color: #4a5561; font-weight: 600; border-bottom-color: #8a94a0; }
.range { color: #6b7682; font-size: .78rem; }
.verdict th:nth-child(2), .verdict td:nth-child(2) { text-align: left; }
.verdict th:nth-child(3) { text-align: center; }
td.bar { position: relative; width: 16rem; min-width: 12rem; padding: 0;
  background: linear-gradient(#8a94a0, #8a94a0) 50% 0 / 1px 100% no-repeat; }
td.bar i { position: absolute; top: 25%; height: 50%; display: block; }
td.bar .for { left: 50%; background: #0b6e8a; }
td.bar .against { right: 50%; background: #b3432b; }
pre { background: #f3f5f7; padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
li { max-width: 48rem; margin: .25rem 0; }
@media print { body { margin: 0; max-width: none; } section { break-inside: avoid-page; } }
"""
