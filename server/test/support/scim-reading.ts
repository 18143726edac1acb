import assert from 'node:assert/strict'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { scimSource } from '../../src/identity-providers/sources/scim-source.ts'
import { TargetError } from '../../src/provisioners/driver.ts'
import { directoryOf } from './directory-of.ts'
import { type Asked, openScimPeer, type PeerAnswer, pageOf } from './scim-peer.ts'

export const egress = openEgress(readEgressAllow('127.0.0.1'))
export const token = 'token-of-the+peer/with=signs'

/** Reads a server that answers so, and says what it was asked. */
export async function reading(
  answer: (asked: Asked) => PeerAnswer,
  { page_size = 10, groups = true } = {},
  source = scimSource,
) {
  const peer = await openScimPeer(answer)
  const read = source.open({ base_url: `${peer.base_url}/`, token, page_size }, egress)
  return { ...(await directoryOf(read, { groups })), peer }
}

export const user = (id: number, more: object = {}) => ({ id: `u${id}`, userName: `user-${id}`, ...more })
export const users = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => user(from + place))
export const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id)

/** An empty list. */
export const none = { totalResults: 0 }

/** A server with these lists. `max`: the most that it gives at a time; `sorts`: what it says of that. */
export function serving(lists: {
  users?: readonly unknown[]
  groups?: readonly unknown[]
  max?: number
  sorts?: unknown
}) {
  const { users: people = [], groups = [], max, sorts = false } = lists
  return (asked: Asked): PeerAnswer => {
    if (asked.path === '/ServiceProviderConfig') return { body: { sort: { supported: sorts } } }
    if (asked.path === '/Users') return { body: pageOf(people, asked, max) }
    return asked.path === '/Groups' ? { body: pageOf(groups, asked, max) } : { status: 404 }
  }
}

/** Requires an error of a reading, which does not repeat the token. */
export function isFault(error: unknown, kind: TargetError['kind'], says: RegExp): void {
  assert.ok(error instanceof TargetError, String(error))
  assert.match(error.message, says)
  assert.equal(error.kind, kind, error.message)
  for (const secret of [token, encodeURIComponent(token), Buffer.from(token).toString('base64')])
    assert.ok(!error.message.includes(secret), error.message)
}
