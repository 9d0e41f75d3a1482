/** The colours and parts of the console, for pages whose style is within them. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f6f5f1; --card: #fff; --ink: #1d1c19; --soft: #625e55; --line: #e4e1d9; --accent: #a0490a; --on-accent: #fff;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #161513; --card: #201f1c; --ink: #edeae3; --soft: #a8a397; --line: #37342f; --accent: #f0a25c; --on-accent: #241304 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
header, main { max-width: 44rem; margin: 0 auto; padding: 1rem 1.25rem }
main { padding-bottom: 4rem }
nav { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.1rem; min-height: 2rem }
nav a { color: var(--soft); text-decoration: none }
nav a:hover { color: var(--ink) }
.brand { color: var(--ink); font-weight: 650; letter-spacing: -.01em }
.brand::before {
  content: "R"; display: inline-block; width: 1.6rem; height: 1.6rem; margin-right: .5rem; border-radius: .4rem;
  background: var(--accent); color: var(--on-accent); font-weight: 800; line-height: 1.6rem; text-align: center;
}
.button {
  display: inline-block; padding: .45rem 1rem; border-radius: .6rem; background: var(--accent); color: var(--on-accent);
  font-weight: 550; text-decoration: none;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
h1 { margin: 0 0 .25rem; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; overflow-wrap: anywhere }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.15rem }
h3 { margin: 0; font-size: 1rem }
p { margin: .5rem 0; overflow-wrap: anywhere }
a { color: var(--accent) }
.kicker, .soft, footer { color: var(--soft); font-size: .9rem; font-weight: 400 }
.kicker { margin: 0 0 .75rem; letter-spacing: .06em; text-transform: uppercase; font-size: .75rem }
article { margin: 1.75rem 0; padding: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem }
article > :last-child { margin-bottom: 0 }
article h2 { margin: 1.5rem 0 .75rem; font-size: .9rem; font-weight: 600 }
.stars { color: var(--accent); font-size: 1.35rem; letter-spacing: .1em; line-height: 1 }
.stars span { color: var(--line) }
blockquote { margin: .75rem 0 1rem; font-size: 1.1rem; white-space: pre-line; overflow-wrap: anywhere }
dl { display: grid; gap: 1rem 1.5rem; margin: 0 }
.terms { grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); margin-top: 1.5rem }
.terms dd { font-size: 1.1rem }
.price { font-size: 1.5rem; letter-spacing: -.01em; margin-right: .35rem }
.figures { grid-template-columns: repeat(auto-fill, minmax(min(9rem, 100%), 1fr)); margin-bottom: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--line) }
.figures dd { font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.lead { font-size: 1.15rem }
dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; font-weight: 600 }
ol { margin: 1.25rem 0 0; padding: 0; list-style: none; counter-reset: step }
li { position: relative; margin: 0 0 1.5rem; padding-left: 2.5rem; counter-increment: step }
li::before {
  content: counter(step); position: absolute; left: 0; width: 1.6rem; height: 1.6rem; border: 1px solid var(--accent);
  border-radius: 50%; color: var(--accent); font-size: .85rem; font-weight: 600; line-height: 1.5rem; text-align: center;
}
pre {
  margin: .5rem 0 0; padding: .9rem 1rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; font: .8rem/1.55 ui-monospace, monospace; tab-size: 2;
}
code { font-family: ui-monospace, monospace; font-size: .9em }
pre code { font-size: inherit }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line) }
`
