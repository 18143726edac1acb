import { isObject } from '../../kernel/is-object.ts'
import { isPlainLine } from '../../kernel/one-line-name.ts'
import { type Connect, connectOf, isHttpsLink } from '../connect.ts'

/** What a receiver may answer about how to connect. */
type Answered = { url?: string; instructions?: string; fields?: { name: string; value: string }[] }

const maxAnswerLength = 8_000
const maxFields = 15
const maxLength = { name: 60, value: 400, url: 500, instructions: 500 } as const

/**
 * How to connect, as a receiver answered it; undefined when it answered nothing. An answer of another form is not shown, and never
 * makes an act fail: the result says why. `words` sanitizes a text of the receiver.
 */
export function readConnect(said: unknown, words: (text: unknown) => string | null): Connect | undefined {
  if (said === undefined || said === null) return undefined
  const fault = findFault(said, words)
  if (fault !== undefined) {
    const summary = `The target answered how to connect, but not in the form that Sallyport shows: \`connect\` ${fault}.`
    return connectOf({ kind: 'webhook', summary })
  }
  // It has no faults.
  const { url, instructions, fields = [] } = said as Answered
  const shown = (text: string) => words(text) ?? ''
  return connectOf({
    kind: 'webhook',
    summary: instructions === undefined ? usualSummary(url) : shown(instructions),
    links: url === undefined ? [] : [{ label: 'Open', url }],
    fields: fields.map(({ name, value }) => [shown(name), shown(value)]),
  })
}

function usualSummary(url: string | undefined): string {
  return url === undefined ? 'The target answered how to connect:' : 'Open the link of the target.'
}

function findFault(said: unknown, words: (text: unknown) => string | null): string | undefined {
  if (!isObject(said)) return 'must be an object'
  if (JSON.stringify(said).length > maxAnswerLength) return `must be at most ${maxAnswerLength} characters`
  const unknown = Object.keys(said).some((name) => !['url', 'instructions', 'fields'].includes(name))
  if (unknown) return 'may contain `url`, `instructions` and `fields` only'
  const { url, instructions, fields = [] } = said
  if (url === undefined && instructions === undefined && said.fields === undefined) return 'is empty'
  if (url !== undefined && !(isText(url, maxLength.url) && isHttpsLink(url))) {
    return `may contain only an https address as \`url\`, of at most ${maxLength.url} characters and without a user`
  }
  // A link with a redacted part would lead elsewhere.
  if (url !== undefined && words(url) !== url) return 'may not contain a secret of the provisioner in `url`'
  if (instructions !== undefined && !isText(instructions, maxLength.instructions)) {
    return `may contain only one line of plain text as \`instructions\`, of at most ${maxLength.instructions} characters`
  }
  if (Array.isArray(fields) && fields.length <= maxFields && fields.every(isField)) return undefined
  return `may contain at most ${maxFields} \`fields\`, each with only a \`name\` and a \`value\` of one line of plain text`
}

function isField(field: unknown): boolean {
  if (!isObject(field) || Object.keys(field).length !== 2) return false
  return isText(field.name, maxLength.name) && isText(field.value, maxLength.value)
}

function isText(text: unknown, max: number): text is string {
  return (
    typeof text === 'string' && text.trim() !== '' && text.length <= max && isPlainLine(text) && text.isWellFormed()
  )
}
