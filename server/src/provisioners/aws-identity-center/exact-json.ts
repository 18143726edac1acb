import { parsedJson } from '../../kernel/parsed-json.ts'

/** The value of a JSON text; undefined if it is not JSON, or `JSON.parse` would lose a part of it, such as a name that occurs twice. */
export function parseExactly(text: string): unknown {
  const value = parsedJson(text)
  return value !== undefined && JSON.stringify(value) === minified(text) ? value : undefined
}

/** Valid JSON without white space outside of its texts, and with each text in its usual spelling. */
function minified(json: string): string {
  let written = ''
  for (let at = 0; at < json.length; ) {
    const end = json[at] === '"' ? endOfText(json, at) : at + 1
    const part = json.slice(at, end)
    written += part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : part.trim()
    at = end
  }
  return written
}

/** Where a text ends that begins there. */
function endOfText(json: string, begin: number): number {
  let at = begin + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}
