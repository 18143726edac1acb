import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../kernel/context.ts'
import { gather } from '../../kernel/gather.ts'
import { newId } from '../../kernel/id.ts'
import {
  type Driver,
  type DriverType,
  type GrantAsk,
  type Held,
  type Plan,
  type Progress,
  type Sighting,
  type Target,
  TargetError,
} from '../driver.ts'
import { beginOperations, findHeld, listMarked, pollOperations, type Received } from './sandbox-books.ts'

/**
 * A pretend cloud, for rehearsal and tests: it keeps its books in the database and answers as the real ones do, later
 * and by reference. A row in `sandbox_weather` makes it hostile to a tenant. Calls that come together are written together.
 */
const driver: Driver = {
  plan,
  grant: (tx, target, _until, signal) => begin(tx, 'create', keyOf(target), signal),
  revoke: (tx, target, signal) => begin(tx, 'delete', keyOf(target), signal),
  poll,
  verify: (tx, target) => verify(tx, target),
  discover,
  health: () =>
    Promise.resolve([{ what: 'the sandbox', ok: true, message: 'a pretend cloud: it gives access to nothing' }]),
  pollAfterMs: (polls) => Math.min(50 * 2 ** polls, 5_000),
  close: () => Promise.resolve(),
}

/** The sandbox as a type of provisioner; it needs no config. */
export const sandbox: DriverType = {
  shownFields: {},
  targetFields: [],
  findFaults: (config) =>
    Promise.resolve(
      Object.keys(config).map((name) => ({
        pointer: `/config/${name}`,
        why: 'is not known: the sandbox takes no config',
      })),
    ),
  makeSecrets: () => ({}),
  open: () => driver,
}

const mostTogether = 512
const alone = () => true

const received = gather(mostTogether, beginOperations, alone)
const polled = gather(mostTogether, pollOperations, alone)
const isHeld = gather(mostTogether, findHeld, alone)

async function plan(tx: Tx, ask: GrantAsk): Promise<Plan> {
  const { user, account_id, resource, permission_set, action } = ask
  const key = JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set ?? action])
  return { key, target: { key }, held: await isHeld(tx, key), session_seconds: 0 }
}

async function verify(tx: Tx, target: Target): Promise<Held> {
  return (await isHeld(tx, keyOf(target))) ? 'held' : 'absent'
}

async function* discover(tx: Tx, known: readonly Sighting[]): AsyncGenerator<Sighting[]> {
  for (let from = 0; from < known.length; from += mostTogether) {
    const asked = known.slice(from, from + mostTogether)
    const held = await findHeld(
      tx,
      asked.map(({ key }) => key),
    )
    yield asked.filter((_, index) => held[index])
  }
  let after = ''
  for (;;) {
    const keys = await listMarked(tx, after, mostTogether)
    if (keys.length > 0) yield keys.map((key) => ({ key, target: { key } }))
    const last = keys.at(-1)
    if (keys.length < mostTogether || last === undefined) return
    after = last
  }
}

/** Begins an act, in the weather of the moment. */
async function begin(tx: Tx, kind: Received['kind'], key: string, signal: AbortSignal): Promise<Progress> {
  const reference = newId()
  const { fate, delay_ms } = await received(tx, { id: reference, kind, key })
  if (delay_ms > 0) await pause(delay_ms, undefined, { signal })
  if (fate === 'throttled') throw new TargetError('transient', 'the sandbox is throttling; rate exceeded')
  if (fate === 'conflicting') {
    throw new TargetError('transient', 'the sandbox has another operation on this under way')
  }
  if (fate === 'forgotten') throw new TargetError('transient', 'the sandbox did not answer in time')
  return { done: false, reference }
}

/** Asks how an operation is going; the last poll is also when the pretend cloud does it. */
async function poll(tx: Tx, _target: Target, reference: string): Promise<Progress> {
  const operation = await polled(tx, reference)
  if (operation === undefined) throw new TargetError('transient', `the sandbox knows no operation \`${reference}\``)
  if (operation.polls_left > 0) return { done: false, reference }
  if (operation.outcome === 'FAILED') throw new TargetError('permanent', 'the sandbox answered FAILED')
  return { done: true, reference }
}

function keyOf(target: Target): string {
  return String(target.key)
}
