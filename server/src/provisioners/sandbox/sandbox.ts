import { batched } from '../../kernel/batch.ts'
import type { Tx } from '../../kernel/context.ts'
import { connectOf } from '../connect.ts'
import {
  type Driver,
  type DriverType,
  type Held,
  type Plan,
  type PlanInput,
  type Progress,
  type Sighting,
  type Target,
  TargetError,
} from '../driver.ts'
import { type Act, beginOperations, findHeld, finishOperations, listMarked } from './sandbox-store.ts'

/**
 * A simulated cloud for trying things out. It stores what it holds in the database, and answers as real clouds do: later and
 * by reference. Concurrent calls are batched.
 */
const driver: Driver = {
  plan,
  grant: (tx, target) => begin(tx, { kind: 'create', key: keyOf(target) }),
  revoke: (tx, target) => begin(tx, { kind: 'delete', key: keyOf(target) }),
  poll,
  verify: (tx, target) => verify(tx, target),
  discover,
  // By triggers on its own rows.
  wakesSweep: true,
  setPassword: null,
  readInventory: null,
  readDirectory: null,
  // It is in the database itself, and so of its installation alone.
  claims: null,
  health: () =>
    Promise.resolve([{ what: 'the sandbox', ok: true, message: 'a simulated cloud: it gives no real access' }]),
  pollAfterMs: () => 50,
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
        why: 'is not a known field: the sandbox takes no config',
      })),
    ),
  makeSecrets: () => ({}),
  inventoryParts: [],
  userLookupOf: null,
  open: () => driver,
}

const connect = connectOf({
  kind: 'sandbox',
  summary: 'This access is simulated, in the sandbox. There is nothing to connect to.',
})

const maxBatch = 512
const alone = () => true

const beginOperation = batched(maxBatch, beginOperations, alone)
const finishOperation = batched(maxBatch, finishOperations, alone)
const isHeld = batched(maxBatch, findHeld, alone)

async function plan(tx: Tx, input: PlanInput): Promise<Plan> {
  const { user, account_id, resource, permission_set, action } = input
  const key = JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set ?? action])
  return { key, target: { key }, held: await isHeld(tx, key), session_seconds: 0, connect }
}

async function verify(tx: Tx, target: Target): Promise<Held> {
  return (await isHeld(tx, keyOf(target))) ? 'held' : 'absent'
}

async function* discover(tx: Tx, known: readonly Sighting[]): AsyncGenerator<Sighting[]> {
  for (let from = 0; from < known.length; from += maxBatch) {
    const batch = known.slice(from, from + maxBatch)
    const held = await findHeld(
      tx,
      batch.map(({ key }) => key),
    )
    yield batch.filter((_, index) => held[index])
  }
  let after = ''
  for (;;) {
    const keys = await listMarked(tx, after, maxBatch)
    if (keys.length > 0) yield keys.map((key) => ({ key, target: { key } }))
    const last = keys.at(-1)
    if (keys.length < maxBatch || last === undefined) return
    after = last
  }
}

async function begin(tx: Tx, act: Act): Promise<Progress> {
  return { done: false, reference: await beginOperation(tx, act) }
}

async function poll(tx: Tx, _target: Target, reference: string): Promise<Progress> {
  const isKnown = await finishOperation(tx, reference)
  if (!isKnown) throw new TargetError('transient', `the sandbox knows no operation \`${reference}\``)
  return { done: true, reference }
}

function keyOf(target: Target): string {
  return String(target.key)
}
