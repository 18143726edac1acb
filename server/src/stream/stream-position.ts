import { hash } from 'node:crypto'
import { invalidInput } from '../kernel/errors.ts'

/**
 * Where a client is in its stream: the event of its last change, its last notification, and the scopes by which the changes were
 * chosen. It is the `id` of the stream's events. It names nothing that could be read by it: an altered one is another place of the
 * same caller's own stream, or unknown.
 */
export type Position = { mark: string; notification: string; rights: string }

export const positionPattern = '^[0-9a-f]{16}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.[0-9a-f]{8}$'

export function positionText({ mark, notification, rights }: Position): string {
  return `${mark}.${notification}.${rights}`
}

/** Undefined for a client without a position. @throws Problem 400 */
export function readPosition(text = ''): Position | undefined {
  if (text === '') return undefined
  if (!new RegExp(positionPattern).test(text))
    throw invalidInput([{ pointer: 'Last-Event-ID', why: 'must be an `id` from an earlier event of this stream' }])
  const [mark = '', notification = '', rights = ''] = text.split('.')
  return { mark, notification, rights }
}

/** The same for the same scopes. A client that comes back with other scopes sees other records, and has to load them. */
export function rightsOf(scopes: ReadonlySet<string>): string {
  return hash('sha256', [...scopes].sort().join(' '), 'hex').slice(0, 8)
}
