// The stylesheet of the page at /docs.
#pragma once

#include <string_view>

namespace alate::server {

inline constexpr std::string_view kDocsStyle = R"css(
:root { color-scheme: light dark; --ground: #fbfbfa; --panel: #fff; --ink: #1d2125; --soft: #5d666f; --line: #dfe2e5;
  --accent: #1f5fbf; --get: #26734d; --post: #1f5fbf; --delete: #a8322a; --bad: #a8322a; --code: #f3f4f5; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181b; --panel: #1c2024; --ink: #e4e7ea; --soft: #98a2ac; --line: #32383e;
    --accent: #7db0ff; --get: #6fc79a; --post: #7db0ff; --delete: #f08b82; --bad: #f08b82; --code: #24292e; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main, header { max-width: 62rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.6rem; font-weight: 600; margin: 0; }
h1 small { font-size: .9rem; font-weight: 400; color: var(--soft); margin-left: .5rem; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 2.2rem 0 .1rem; }
h3 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 1.2rem 0 .4rem; }
p { margin: .3rem 0; }
.soft { color: var(--soft); }
a { color: var(--accent); text-underline-offset: .15em; }
.bar { display: flex; flex-wrap: wrap; gap: .8rem 1rem; margin: 1.2rem 0 0; align-items: end; }
.bar label { flex: 1 1 14rem; }
label { display: block; font-size: .85rem; color: var(--soft); }
input, textarea { width: 100%; font: inherit; color: var(--ink); background: var(--panel);
  border: 1px solid var(--line); border-radius: .4rem; padding: .45rem .6rem; margin-top: .2rem; }
textarea, pre, code, .path, td:first-child { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
textarea { font-size: .85rem; min-height: 7rem; resize: vertical; }
:is(input, textarea, button, summary, a):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: 1rem 0 0; font-size: .95rem; }
details { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
summary { display: flex; flex-wrap: wrap; gap: .1rem .8rem; align-items: baseline; padding: .55rem .8rem;
  cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
.method { font-size: .75rem; font-weight: 700; min-width: 3rem; }
.get { color: var(--get); } .post, .put, .patch { color: var(--post); } .delete { color: var(--delete); }
.path { font-size: .92rem; overflow-wrap: anywhere; }
summary .soft { font-size: .9rem; flex: 1 1 12rem; }
.inside { padding: 0 .8rem 1rem; border-top: 1px solid var(--line); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td:first-child { white-space: nowrap; font-size: .84rem; }
.fields td:nth-child(-n+3) { white-space: nowrap; }
.fields td:last-child { min-width: 14rem; }
pre { background: var(--code); border-radius: .4rem; padding: .7rem .8rem; margin: 0; font-size: .82rem;
  overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.code { position: relative; }
.code button { position: absolute; top: .35rem; right: .35rem; padding: .15rem .55rem; font-size: .78rem; }
.code pre { padding-right: 4.5rem; }
button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line);
  border-radius: .4rem; padding: .4rem 1rem; cursor: pointer; }
button.send { color: var(--ground); background: var(--accent); border-color: var(--accent); margin-top: .6rem; }
button:disabled { opacity: .55; cursor: default; }
.status { margin: .7rem 0 .4rem; font-size: .9rem; }
.bad { color: var(--bad); }
footer { max-width: 62rem; margin: 2.5rem auto; padding: 0 1rem; font-size: .85rem; color: var(--soft); }
[hidden] { display: none; }
@media (max-width: 34rem) {
  header { padding-top: 1.2rem; }
  .fields :is(thead, td:empty) { display: none; }
  .fields tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .fields td { display: block; border: 0; padding: 0; white-space: normal; overflow-wrap: anywhere; }
  .fields td:nth-child(-n+3) { display: inline-block; margin-right: .8rem; white-space: normal; }
  .fields td:last-child { min-width: 0; }
  .answers td:last-child { display: none; }
}
)css";

}  // namespace alate::server
