import { hash } from 'node:crypto'
import type { ResumeTokens } from '../http/operation.ts'

/**
 * Where a client is in its stream: the newest event that the stream had read, the client's last notification, and the scopes by
 * which the changes were chosen. Sealed, it is the `id` of the stream's events: the client may know nothing of that event, not
 * even whether it is still the same one.
 */
export type Position = { mark: string; notification: string; rights: string }

/** All of its parts have a fixed length, so that the length of the text reveals nothing either. */
export function positionText(tokens: ResumeTokens, { mark, notification, rights }: Position): string {
  return tokens.seal([mark, notification, rights])
}

/** Undefined for a text that is no position of this caller. */
export function findPosition(tokens: ResumeTokens, text: string): Position | undefined {
  const [mark, notification, rights] = tokens.find(text) ?? []
  if (mark === undefined || notification === undefined || rights === undefined) return undefined
  return { mark, notification, rights }
}

/** The same for the same scopes. A client that comes back with other scopes sees other records, and has to load them. */
export function rightsOf(scopes: ReadonlySet<string>): string {
  return hash('sha256', [...scopes].sort().join(' '), 'hex').slice(0, 8)
}
