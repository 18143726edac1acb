import { type Static, Type } from 'typebox'
import { OneOf } from '../http/schema.ts'
import { isPlainLine, onOneLine } from '../kernel/one-line-name.ts'
import { line } from '../kernel/plain-words.ts'
import { shellLine } from './shell-line.ts'

/** Characters of each text, and entries of each list, at most. */
const maxText = { label: 80, summary: 600, value: 500, url: 1_000, command: 1_000, line: 200 } as const
const maxEntries = { links: 4, fields: 20, commands: 4, files: 3, lines: 100 } as const
/** Bytes of the whole as JSON, at most: a page of a list has 200 grants. */
export const maxConnectBytes = 8_192

const Label = Type.String({ maxLength: maxText.label })

/**
 * How the holder of a grant reaches what it gives. The first five parts say all of it for any kind of target, so that a page, a
 * command line or a mail shows it without knowing the kind. INVARIANT: it contains no secret, and `connectOf` made it.
 */
export const Connect = Type.Object(
  {
    kind: OneOf(['aws', 'postgresql', 'webhook', 'sandbox'], {
      description: 'the kind of target; the field of that name, if there is one, holds the same facts as data',
    }),
    summary: Type.String({ maxLength: maxText.summary, description: 'what to do, as plain text' }),
    links: Type.Array(Type.Object({ label: Label, url: Type.String({ maxLength: maxText.url }) }), {
      maxItems: maxEntries.links,
      description: 'https links',
    }),
    fields: Type.Array(Type.Object({ label: Label, value: Type.String({ maxLength: maxText.value }) }), {
      maxItems: maxEntries.fields,
    }),
    commands: Type.Array(Type.Object({ label: Label, text: Type.String({ maxLength: maxText.command }) }), {
      maxItems: maxEntries.commands,
      description: 'lines for a POSIX shell, in order; each is quoted, and can be pasted as it is',
    }),
    files: Type.Array(
      Type.Object({
        label: Label,
        path: Type.String({ maxLength: maxText.line, description: 'a file of the holder, such as `~/.aws/config`' }),
        lines: Type.Array(Type.String({ maxLength: maxText.line }), { maxItems: maxEntries.lines }),
      }),
      { maxItems: maxEntries.files, description: 'lines to add to files, before the commands are run' },
    ),
    aws: Type.Optional(
      Type.Object({
        account_id: Type.String(),
        permission_set: Type.String({ description: 'its name: the role of the account in the access portal' }),
        portal_url: Type.Optional(Type.String({ description: 'the start URL of the access portal' })),
        sso_region: Type.String({ description: 'the region of the access portal' }),
        profile: Type.Optional(Type.String({ description: 'the name of the profile in `files`' })),
      }),
    ),
    postgresql: Type.Optional(
      Type.Object({
        host: Type.String(),
        port: Type.Integer(),
        database: Type.String(),
        login: Type.String(),
        role: Type.String({ description: 'the role that the login holds' }),
        makes_credentials: Type.Optional(
          Type.Boolean({ description: 'true: `POST /v1/grants/{id}/credentials` gives its holder a password' }),
        ),
      }),
    ),
  },
  { title: 'Connect', description: 'how the holder connects; it never contains a secret' },
)
export type Connect = Static<typeof Connect>

/** What a driver says. It may contain any text anywhere. */
type Draft = Pick<Connect, 'kind' | 'summary' | 'aws' | 'postgresql'> & {
  links?: Connect['links']
  /** An empty value is left out. */
  fields?: readonly (readonly [label: string, value: string])[]
  /** The words of a command line; unquoted. */
  commands?: readonly { label: string; words: readonly string[] }[]
  files?: Connect['files']
}

/**
 * The one place that makes how to connect: bounded plain text. A link that is no https link, a command or a file that would not do
 * what it shows, and data that cannot be shown as it is, are left out.
 */
export function connectOf({ links = [], fields = [], commands = [], files = [], ...draft }: Draft): Connect {
  const { kind, summary, aws, postgresql } = draft
  const label = (text: string) => cut(onOneLine(text), maxText.label)
  return fitting({
    kind,
    summary: cut(onOneLine(summary), maxText.summary),
    links: links
      .filter(({ url }) => isHttpsLink(url))
      .map((link) => ({ label: label(link.label), url: link.url }))
      .slice(0, maxEntries.links),
    fields: fields
      .map((field) => ({ label: label(field[0]), value: cut(onOneLine(field[1]), maxText.value) }))
      .filter(({ value }) => value !== '')
      .slice(0, maxEntries.fields),
    commands: commands
      .map((command) => ({ label: label(command.label), text: shellLine(command.words) ?? '' }))
      .filter(({ text }) => text !== '' && text.length <= maxText.command)
      .slice(0, maxEntries.commands),
    files: files
      .filter(({ path, lines }) => isShown(path, maxText.line) && areShown(lines))
      .map((file) => ({ ...file, label: label(file.label) }))
      .slice(0, maxEntries.files),
    ...(areShownValues(aws) && { aws }),
    ...(areShownValues(postgresql) && { postgresql }),
  })
}

/** An https address without a user and a password, of plain characters. */
export function isHttpsLink(url: string): boolean {
  if (!/^https:\/\/[!-~]+$/.test(url) || url.length > maxText.url) return false
  const parsed = URL.parse(url)
  return parsed !== null && parsed.username === '' && parsed.password === ''
}

/** Drops the least needed entries until the rest is small enough. */
function fitting(connect: Connect): Connect {
  const rest = { ...connect }
  const isTooLong = () => Buffer.byteLength(JSON.stringify(rest)) > maxConnectBytes
  for (const part of ['files', 'fields', 'commands', 'links'] as const) {
    while (isTooLong() && rest[part].length > 0) rest[part] = rest[part].slice(0, -1) as never
  }
  return rest
}

function cut(text: string, max: number): string {
  return line(text.toWellFormed(), max - 1)
}

function isShown(text: string, max: number): boolean {
  return isPlainLine(text) && text.isWellFormed() && text.length <= max
}

function areShown(lines: readonly string[]): boolean {
  return lines.length <= maxEntries.lines && lines.every((one) => isShown(one, maxText.line))
}

function areShownValues<Data extends object>(data: Data | undefined): data is Data {
  if (data === undefined) return false
  return Object.values(data).every((value) => typeof value !== 'string' || isShown(value, maxText.url))
}
