import { type Html, html } from '../kernel/html.ts'
import { line } from '../kernel/plain-words.ts'
import type { Own } from './bodies.ts'
import { nameOf } from './shown-text.ts'
import { style } from './style.ts'
import type { Words } from './words-en.ts'

/** What a page says around its content. */
export type Frame = {
  title: string
  words: Words
  /** Undefined for a reader who has not signed in. */
  tenant: Own['tenant'] | undefined
  /** Whether a phone shows a bar at the bottom, for which the page leaves room. */
  hasBar?: boolean
}

export function layout({ title, words, tenant, hasBar = false }: Frame, content: readonly Html[] | Html): Html {
  const rehearsal = tenant?.mode === 'rehearsal' ? html`<p class="rehearsal">${words.rehearsal}</p>` : ''
  const name =
    tenant === undefined ? '' : html` · ${nameOf(tenant.name)}${tenant.mode === 'live' ? ` · ${words.live}` : ''}`
  return html`<!doctype html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
<title>${line(title)} · Sallyport</title>
<style>${style}</style>
</head>
<body class="${hasBar ? 'decides' : 'reads'}">
<header>${rehearsal}<p class="product"><b>Sallyport</b>${name}</p></header>
<main>
${content}
</main>
</body>
</html>
`
}

export function card(...content: readonly (Html | string)[]): Html {
  return html`<section class="card">${content.map((part) => html`${part}\n`)}</section>\n`
}

/** A card with a heading; nothing where it has no content. */
export function section(heading: Html | string, ...content: readonly (Html | '')[]): Html {
  const parts = content.filter((part) => part !== '')
  return parts.length === 0 ? html`` : card(html`<h2>${heading}</h2>`, ...parts)
}

/** Rows of facts; a row without a value is left out. */
export function facts(rows: readonly (readonly [label: string, value: Html | string | undefined])[]): Html | '' {
  const shown = rows.flatMap(([label, value]) =>
    value === undefined ? [] : html`<dt>${label}</dt><dd>${value}</dd>\n`,
  )
  return shown.length === 0 ? '' : html`<dl>${shown}</dl>`
}

export function list(items: readonly Html[]): Html | '' {
  return items.length === 0 ? '' : html`<ul class="list">${items.map((item) => html`<li>${item}</li>\n`)}</ul>`
}

/** What just happened, or what went wrong, above everything else. */
export function notice(text: Html | string, tone: 'plain' | 'bad' = 'plain'): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${text}</div>\n`
}

/** A link that looks like a button. */
export function linkButton(url: string, label: string, kind: 'primary' | 'plain' = 'plain'): Html {
  return html`<a class="button ${kind}" href="${url}">${label}</a>`
}
