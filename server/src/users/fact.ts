/** What policy may know of a user beside their name and address: department, title and manager. The console and rules show it to others. */
import { Type } from 'typebox'
import { Name, Nullable, Uuid } from '../http/schema.ts'
import { type FaultyField, invalidInput, Problem } from '../kernel/errors.ts'
import { isName, isVisibleLine, visibleLineRule } from '../kernel/one-line-name.ts'

const maxLength = 200

/** In the reply. What is not known is left out. */
export const shownFacts = {
  department: Type.Optional(Type.String({ description: 'left out where it is not known' })),
  title: Type.Optional(Type.String({ description: 'the job title; left out where it is not known' })),
  manager_id: Type.Optional(Type.String({ ...Uuid, description: 'another user; left out where none is known' })),
}

/** In the body of a change. */
export const factChanges = {
  department: Type.Optional(Nullable(Name(maxLength, { description: 'for rules; null: not known' }))),
  title: Type.Optional(Nullable(Name(maxLength, { description: 'the job title, for rules; null: not known' }))),
  manager_id: Type.Optional(
    Nullable(Type.String({ ...Uuid, description: 'another user, for rules and as approver; null: not known' })),
  ),
}

/** As stored; null: not known. */
export type StoredFacts = { department: string | null; title: string | null; manager_id: string | null }
export type FactChange = { [fact in keyof StoredFacts]?: string | null | undefined }

/**
 * The facts of a change that differ from the present ones, as they are stored: in NFC, so that rules find what they name.
 * @throws Problem 400 naming each faulty field
 */
export function readFactChange(user: StoredFacts & { id: string }, change: FactChange): Partial<StoredFacts> {
  const read = {
    department: textOf(change.department),
    title: textOf(change.title),
    manager_id: idOf(change.manager_id),
  }
  const isChanged = (fact: keyof StoredFacts) => read[fact] !== undefined && read[fact] !== user[fact]
  const changed = (['department', 'title', 'manager_id'] as const).filter(isChanged)
  const faults = changed.flatMap((fact): FaultyField[] => {
    const why = fact === 'manager_id' ? managerFault(user.id, read[fact]) : textFault(read[fact])
    return why === undefined ? [] : [{ pointer: `/${fact}`, why }]
  })
  if (faults.length > 0) throw invalidInput(faults)
  return Object.fromEntries(changed.map((fact) => [fact, read[fact]]))
}

type Sent = string | null | undefined

function textOf(sent: Sent): Sent {
  return sent?.normalize('NFC') ?? sent
}

function idOf(sent: Sent): Sent {
  return sent?.toLowerCase() ?? sent
}

function textFault(text: Sent): string | undefined {
  if (typeof text !== 'string') return undefined
  if ([...text].length > maxLength) return `is too long: use at most ${maxLength} characters`
  if (!isVisibleLine(text)) return visibleLineRule
  return isName(text) ? undefined : 'must have a visible character; send null where it is not known'
}

function managerFault(user_id: string, manager_id: Sent): string | undefined {
  return manager_id === user_id ? 'must be another user' : undefined
}

/**
 * Rules decide by facts, so that nobody states their own, nor through an API key of theirs.
 * @throws Problem 403
 */
export function requireMayStateFacts(user_id: string, actor: { user_id: string | null }): void {
  if (actor.user_id !== user_id) return
  const message =
    'nobody changes their own department, title or manager, by which rules decide; ask another user administrator'
  throw new Problem('forbidden', message)
}

/** The manager is no user of the tenant. */
export function noSuchManager(manager_id: string): Problem {
  return new Problem('unprocessable', `there is no user \`${manager_id}\`: name the manager by the id of a user`, {
    details: { manager_id },
  })
}
