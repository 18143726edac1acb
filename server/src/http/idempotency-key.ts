import { createHash } from 'node:crypto'
import type { Actor } from '../kernel/context.ts'
import { invalidInput } from '../kernel/errors.ts'
import type { Operation } from './operation.ts'

/** A call with a key: whose key it is and for what, and what is asked. */
export type KeyedCall = {
  /** The same for every call that the key makes one of. */
  id: Buffer
  /** The same for every call that asks the same. */
  asked: string
}

/** Whether the operation minds the header `Idempotency-Key`: it changes something, for a caller who is known. */
export function takesKey({ method, credential }: Pick<Operation, 'method' | 'credential'>): boolean {
  return method !== 'GET' && (credential === 'any' || credential === 'user')
}

/** @throws Problem 400 for a key that is none, or that is there twice: it arrives with a space in it then. */
export function readKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw invalidInput([{ pointer: 'Idempotency-Key', why: 'must be 1 to 255 visible ASCII characters, and there once' }])
}

/** A key holds for one tenant, one credential (a person by token, or one API key) and one operation on one record. */
export function keyedCall(
  key: string,
  caller: { tenant_id: string; actor: Actor },
  call: { operationId: string; params: unknown; asked: unknown },
): KeyedCall {
  const { kind, user_id, api_key_id } = caller.actor
  const whose = [caller.tenant_id, kind, kind === 'api_key' ? api_key_id : user_id]
  return {
    id: digest([whose, call.operationId, call.params, key]),
    asked: digest(call.asked).toString('base64'),
  }
}

/** In JSON the order of names means nothing. */
function digest(value: unknown): Buffer {
  const text = JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
  return createHash('sha256').update(text).digest()
}
