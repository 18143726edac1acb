import { createHash } from 'node:crypto'
import { html } from '../kernel/html.ts'

/** The tokens and sizes of the console's design, for one column. On a phone the decision is a bar at the bottom. */
export const style = html`
:root {
  color-scheme: light dark;
  --bg: light-dark(#f7f8f8, #101315); --surface: light-dark(#ffffff, #171b1e); --sunken: light-dark(#eef0f1, #0c0f11);
  --line: light-dark(#dfe3e6, #2a3035); --control: light-dark(#868e96, #6b747c);
  --text: light-dark(#1b1f23, #e8ebed); --text-2: light-dark(#545b63, #a9b1b8); --text-3: light-dark(#656d76, #8f98a0);
  --accent: light-dark(#0b5d66, #5cc4cf); --accent-hover: light-dark(#084a52, #7fd6df);
  --on-accent: light-dark(#ffffff, #0c0f11); --accent-tint: light-dark(#e3f1f2, #12333a);
  --ok: light-dark(#1a6b3c, #6fcf97); --ok-tint: light-dark(#e4f4ea, #12301f);
  --wait: light-dark(#7a5200, #e5b454); --wait-tint: light-dark(#fdf2d8, #33270c);
  --info: light-dark(#1f5fa8, #82b4f0); --info-tint: light-dark(#e6f0fb, #14283f);
  --bad: light-dark(#b3261e, #ff8a80); --bad-tint: light-dark(#fdecea, #3a1715);
  --emergency: light-dark(#8a1c5c, #f29ac8); --emergency-tint: light-dark(#fbe9f3, #371428);
  font: 14px/20px system-ui, sans-serif; font-variant-numeric: tabular-nums;
  color: var(--text); background: var(--bg);
}
* { box-sizing: border-box }
body { margin: 0; padding: 0 0 32px; overflow-wrap: anywhere }
main { max-width: 640px; margin: 0 auto; padding: 0 16px }
.product { max-width: 640px; margin: 0 auto; padding: 8px 16px; font-size: 12px; line-height: 16px; color: var(--text-2) }
.product b { font-weight: 600 }
.rehearsal { max-width: none; margin: 0; padding: 4px 16px; min-height: 28px; text-align: center; font-weight: 500; color: var(--wait);
  background: repeating-linear-gradient(135deg, var(--wait-tint) 0 12px, var(--bg) 12px 24px) }
.card { margin: 0 0 16px; padding: 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px }
.card > :last-child { margin-bottom: 0 }
h1, .sentence { margin: 0 0 12px; font-size: 16px; line-height: 24px; font-weight: 400 }
h1.title { font-size: 20px; line-height: 28px; font-weight: 600 }
h2 { margin: 0 0 8px; font-size: 14px; line-height: 20px; font-weight: 600 }
h3 { margin: 0 0 4px; font-size: 14px; line-height: 20px; font-weight: 500 }
strong { font-weight: 600 }
p { margin: 0 0 12px; max-width: 68ch }
a { color: var(--accent) }
a:hover { color: var(--accent-hover) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.badges { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 8px; padding: 0; list-style: none }
.badge { display: inline-flex; align-items: center; gap: 4px; min-height: 20px; padding: 0 8px; border-radius: 999px;
  font-size: 12px; line-height: 16px; font-weight: 500; color: var(--text-2); background: var(--sunken) }
.badge.ok { color: var(--ok); background: var(--ok-tint) }
.badge.wait { color: var(--wait); background: var(--wait-tint) }
.badge.info { color: var(--info); background: var(--info-tint) }
.badge.bad { color: var(--bad); background: var(--bad-tint) }
.badge.alarm { color: var(--surface); background: var(--bad) }
.badge.emergency { color: var(--emergency); background: var(--emergency-tint) }
svg { flex: none; width: 14px; height: 14px; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round }
.quote { margin: 0 0 12px; padding-left: 12px; border-left: 2px solid var(--control) }
.quote figcaption { font-size: 12px; line-height: 16px; color: var(--text-2) }
.quote blockquote { margin: 0; max-width: 68ch; white-space: pre-wrap; unicode-bidi: plaintext }
dl { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 4px 12px; margin: 0 0 12px }
dt { color: var(--text-2) }
dd { margin: 0; min-width: 0 }
.list { margin: 0 0 12px; padding: 0; list-style: none }
.list > li { padding: 8px 0; border-top: 1px solid var(--line) }
.list > li:first-child { padding-top: 0; border-top: 0 }
.list > li:last-child { padding-bottom: 0 }
.list > li > :last-child { margin-bottom: 0 }
.when { color: var(--text-2) }
.hint { margin: 4px 0 0; font-size: 12px; line-height: 16px; color: var(--text-2) }
.notice { margin: 0 0 16px; padding: 12px 16px; border-radius: 10px; color: var(--text); background: var(--accent-tint) }
.notice.bad { background: var(--bad-tint) }
.notice > :last-child { margin-bottom: 0 }
.error { display: flex; gap: 4px; align-items: flex-start; margin: 4px 0 0; font-size: 12px; line-height: 16px; color: var(--bad) }
label { display: block; margin: 0 0 4px; font-weight: 500 }
.field { margin: 0 0 16px }
input, select, textarea { display: block; width: 100%; padding: 10px 12px; font: inherit; font-size: 16px; line-height: 24px;
  color: var(--text); background: var(--bg); border: 1px solid var(--control); border-radius: 6px }
textarea { min-height: 96px; resize: vertical }
summary { min-height: 24px; padding: 2px 0; color: var(--accent); cursor: pointer }
details { margin: 0 0 16px }
details[open] > summary { margin-bottom: 8px }
.button { display: inline-flex; align-items: center; justify-content: center; min-height: 44px; padding: 0 16px; font: inherit; font-weight: 500;
  text-align: center; text-decoration: none; color: var(--accent); background: transparent; border: 1px solid var(--control); border-radius: 6px; cursor: pointer }
.button.primary, .button.primary:hover { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
.button.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover) }
.button.danger, .button.danger:hover { color: var(--surface); background: var(--bad); border-color: var(--bad) }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 12px }
.actions form { display: contents }
.code { margin: 4px 0 12px; padding: 8px 12px; font: 13px/20px ui-monospace, monospace; white-space: pre-wrap; background: var(--sunken); border-radius: 6px }
.ids { margin: 0 0 16px; font: 12px/16px ui-monospace, monospace; color: var(--text-3) }
@media (max-width: 639px) {
  .decides { padding-bottom: 96px }
  html:has(.bar) { scroll-padding-bottom: 88px }
  .bar { position: fixed; inset: auto 0 0; z-index: 1; padding: 8px 16px calc(8px + env(safe-area-inset-bottom)); background: var(--surface); border-top: 1px solid var(--line) }
  .bar h2 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .bar .actions { flex-wrap: nowrap; margin: 0 }
  .bar .button { flex: 1; min-height: 48px }
}
@media (min-width: 640px) {
  .product { padding-top: 16px; padding-bottom: 16px }
  .card { padding: 24px }
  dl { grid-template-columns: minmax(88px, max-content) 1fr }
  .bar { margin: 0 0 16px; padding: 24px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px }
  .bar .actions { margin: 0 }
}
@media (pointer: fine) and (min-width: 640px) { .button { min-height: 36px } }
`

const hash = createHash('sha256').update(style.text).digest('base64')

/** No script, no address but this service's own, and no frame around the page. */
export const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
