import { createHash } from 'node:crypto'
import type { Actor, Ctx } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import { isFresh } from '../kernel/fresh-sign-in.ts'
import type { Operation } from './operation.ts'

/** A call with a key. */
export type KeyedCall = {
  /** Identifies the key, its owner and the operation: the same for all calls that count as one. */
  id: Buffer
  /** A digest of the request's content: the same for every call with the same content. */
  asked: string
  /** The `id` of the call that this one is an entry of: its entries share its lock, so that one of them runs at a time. */
  within?: Buffer
}

type KeyTaking = Pick<Operation, 'method' | 'credential' | 'setsCookie' | 'keepsNoAnswer'>

/** Whether the operation reads the header `Idempotency-Key`: it changes something, for an authenticated caller. */
export function takesKey({ method, credential, setsCookie, keepsNoAnswer }: KeyTaking): boolean {
  return method !== 'GET' && !setsCookie && !keepsNoAnswer && (credential === 'any' || credential === 'user')
}

/** @throws Problem 400 for a malformed key, or one sent twice: Node joins the two with a space. */
export function readKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw invalidInput([
    { pointer: 'Idempotency-Key', why: 'must be 1 to 255 visible ASCII characters, and be sent once' },
  ])
}

/** Who sends a key. */
type KeyHolder = { tenant_id: string; actor: Actor } & Pick<Ctx, 'session' | 'now'>

/**
 * A key is scoped to one tenant, one credential (a person by token, or one API key) and one operation on one record.
 * `ofSession`: also to the session of the person, and to whether its sign-in is fresh.
 */
export function keyedCall(
  key: string,
  caller: KeyHolder,
  call: { operationId: string; params: unknown; asked: unknown; ofSession: boolean },
): KeyedCall {
  const { kind, user_id, api_key_id } = caller.actor
  const whose = [caller.tenant_id, kind, kind === 'api_key' ? api_key_id : user_id]
  if (call.ofSession && caller.session !== null)
    whose.push(caller.session.id, String(isFresh(caller.session, caller.now)))
  return {
    id: digest([whose, call.operationId, call.params, key]),
    asked: digest(call.asked).toString('base64'),
  }
}

/**
 * The entry of a call as a keyed call of its own. `reserved`: a random text that is kept as the call's own answer, so that entries
 * live as long as their call.
 */
export function keyedEntry({ id, asked }: KeyedCall, reserved: string, name: string): KeyedCall {
  return { id: digest([reserved, name]), asked, within: id }
}

/** Sorts the names, since their order has no meaning in JSON. */
function digest(value: unknown): Buffer {
  const text = JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
  return createHash('sha256').update(text).digest()
}
