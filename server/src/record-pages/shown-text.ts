import { type Html, html } from '../kernel/html.ts'
import { line } from '../kernel/plain-words.ts'

const maxName = 200

/**
 * A name that a person chose, on one line. It is isolated, so that a name that is written from right to left moves nothing that stands beside it;
 * marks that change the direction are left out.
 */
export function nameOf(text: string): Html {
  return html`<bdi>${line(text, maxName)}</bdi>`
}

/** The same in bold type, in the sentence of a page. */
export function strongNameOf(text: string): Html {
  return html`<strong>${nameOf(text)}</strong>`
}

const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** What a person or a target wrote, in its own lines: plain text, never a link, without control characters and marks of the direction. */
export function writtenText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(directionMarks, '')
    .replace(controls, '')
    .trim()
}

/** Quotes what a person wrote. `attribution` says whose words these are. */
export function quote(attribution: Html | string, text: string): Html {
  return html`<figure class="quote"><figcaption>${attribution}</figcaption>
<blockquote dir="auto">${writtenText(text)}</blockquote></figure>`
}

/** What a target answered, in its own words: they are English in every language of a page. */
export function foreignText(text: string): Html {
  return html`<bdi lang="en">${writtenText(text)}</bdi>`
}

/** A sentence of the API, which begins in lower case and has no full stop. It is always English. */
export function apiSentence(message: string): Html {
  const text = writtenText(message)
  const end = /[.!?]$/.test(text) ? '' : '.'
  return html`<span lang="en">${text.charAt(0).toUpperCase()}${text.slice(1)}${end}</span>`
}
