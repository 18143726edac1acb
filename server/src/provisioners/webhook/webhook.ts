import { createHash } from 'node:crypto'
import { makeSigningSecret } from '../../egress/standard-webhooks.ts'
import type { Tx } from '../../kernel/context.ts'
import {
  type Check,
  type Driver,
  type DriverType,
  type Held,
  type Opening,
  type Plan,
  type PlanInput,
  type Progress,
  type Target,
  TargetError,
} from '../driver.ts'
import {
  beginWebhookAct,
  findWebhookAct,
  saveWebhookOutcome,
  saveWebhookReference,
  type WebhookAct,
} from '../webhook-act-store.ts'
import { readConnect } from './answered-connect.ts'
import { isEntitlementName } from './entitlement-name.ts'
import { listAccess } from './list-access.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { receiverClaims } from './receiver-claims.ts'
import { findFaults, shownFields, type WebhookConfig } from './webhook-config.ts'

/**
 * Any other system: signed messages (Standard Webhooks) instruct the tenant's receiver to give or remove access. A poll sends
 * the same message again with the same id; the receiver may also report the result by itself.
 */
export const webhook: DriverType = {
  shownFields,
  targetFields: ['url'],
  findFaults,
  makeSecrets: () => ({ signing_secret: makeSigningSecret() }),
  inventoryParts: [],
  userLookupOf: null,
  open: openWebhook,
}

/** The subject of an act; `entitlement` is the receiver's own name for it, or a generated one. */
type ActData = Omit<PlanInput, 'grant_id' | 'duration_seconds'> & { entitlement: string }
type WebhookTarget = ActData & { key: string }

type Webhook = { receiver: Receiver; config: WebhookConfig; opening: Opening }

const pollDelaysMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000]
const maxPauseMs = 60_000

function openWebhook(opening: Opening): Driver {
  // The config has no faults by `findFaults`.
  const config = opening.config as WebhookConfig
  const secrets = [config.signing_secret, opening.previous.signing_secret ?? []].flat()
  const it: Webhook = { receiver: openReceiver(config, secrets, opening.egress), config, opening }
  return {
    plan: (tx, input, signal) => plan(it, tx, input, signal),
    grant: (tx, target, until, signal) => act(it, tx, 'grant', target as WebhookTarget, until, signal),
    revoke: (tx, target, signal) => act(it, tx, 'revoke', target as WebhookTarget, null, signal),
    poll: (tx, target, reference, signal) => poll(it, tx, target as WebhookTarget, reference, signal),
    verify: (tx, target, until, signal) => verify(it, tx, target as WebhookTarget, until, signal),
    // Of a receiver that does not list what it holds, each entitlement is verified by itself.
    discover:
      config.lists === true
        ? (tx, known, signal) =>
            listAccess(it.receiver, { opening, keyOf: (...name) => keyOf(config, ...name) }, tx, known, signal)
        : null,
    setPassword: null,
    readInventory: null,
    readDirectory: null,
    claims: config.lists === true ? receiverClaims(it.receiver, opening) : null,
    health: (tx, signal) => health(it, tx, signal),
    pollAfterMs: (polls) => pollDelaysMs[polls] ?? maxPauseMs,
    close: () => Promise.resolve(),
  }
}

async function plan({ receiver, config }: Webhook, tx: Tx, input: PlanInput, signal: AbortSignal): Promise<Plan> {
  const { grant_id, duration_seconds, ...about } = input
  const { user, resource, account_id, permission_set, action } = input
  const generated = shortened(JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set, action]))
  const planOf = (entitlement: string, held: boolean, session_seconds: number | null, said?: unknown): Plan => {
    const key = keyOf(config, entitlement, user.id)
    const connect = readConnect(said, receiver.words) ?? null
    return { key, target: { ...about, entitlement, key } satisfies Target, held, session_seconds, connect }
  }
  if (config.verifies === false) return planOf(generated, false, null)
  const message = { type: 'access.plan', data: { ...about, entitlement: generated, grant_id, duration_seconds } }
  const { fields } = await receiver.withinLimit('gives', () => receiver.send(tx, message, signal))
  const { status, entitlement = generated, session_seconds = null } = fields
  const isTime = session_seconds === null || (Number.isInteger(session_seconds) && Number(session_seconds) >= 0)
  if (!isEntitlementName(entitlement) || !isTime) {
    throw new TargetError(
      'transient',
      'the receiver answered a plan with an invalid `entitlement` or `session_seconds`',
    )
  }
  const seconds = session_seconds === null ? null : Math.min(Number(session_seconds), maxSessionSeconds)
  return planOf(entitlement, readHeld(status) === 'held', seconds, fields.connect)
}

/**
 * INVARIANT: with the user's id. A receiver may name access as it names a group, the same for everybody in it; the end of one person's access
 * is not kept waiting by another's.
 */
function keyOf({ url }: WebhookConfig, entitlement: string, user_id: string): string {
  return JSON.stringify([new URL(url).href, entitlement, user_id])
}

/** A name that fits into an index. */
function shortened(name: string): string {
  return isEntitlementName(name) ? name : createHash('sha256').update(name).digest('hex')
}

/** The maximum of an integer column, longer than any session. */
const maxSessionSeconds = 2_147_483_647

async function act(
  it: Webhook,
  tx: Tx,
  kind: WebhookAct['kind'],
  target: WebhookTarget,
  until: Date | null,
  signal: AbortSignal,
): Promise<Progress> {
  return it.receiver.withinLimit(kind === 'revoke' ? 'takes' : 'gives', async () => {
    const begun = await beginWebhookAct(tx, placeOf(it, target), kind, until)
    return sendAct(it, tx, target, begun, signal)
  })
}

/** Sends an act to the receiver, for the first time or again; the receiver answers the act's state. */
async function sendAct(
  it: Webhook,
  tx: Tx,
  target: WebhookTarget,
  begun: WebhookAct,
  signal: AbortSignal,
): Promise<Progress> {
  const { key, ...actData } = target
  const { provisioner_id, public_url, tenant_id } = it.opening
  const callback = { url: `${public_url}/v1/provisioners/${provisioner_id}/results`, tenant_id }
  const { id, kind, begun_at } = begun
  let said: unknown
  const { marks } = it.opening
  const mark = kind === 'grant' ? await marks?.sign({ grant_id: target.first_grant_id, key }) : undefined
  const data = { ...actData, ...(begun.until !== null && { until: begun.until }), ...(mark && { mark }), callback }
  try {
    const { status, fields } = await it.receiver.send(tx, { type: `access.${kind}`, data, id, begun_at }, signal)
    if (status === 202)
      return { ...(await underWay(it, tx, begun, fields.reference)), ...connectIn(it, kind, fields.connect) }
    said = fields.connect
    if (fields.status !== 'done') {
      throw new TargetError(
        'transient',
        'the receiver answered 200 without `"status": "done"`, which the protocol requires',
      )
    }
  } catch (error) {
    // A permanent refusal ends this act, and the next try is a new act. After any other error this act is retried.
    if (error instanceof TargetError && error.kind === 'permanent') await save(it, tx, id, 'failed', error.message)
    throw error
  }
  await save(it, tx, id, 'done', null)
  return { done: true, reference: begun.reference ?? id, ...connectIn(it, kind, said) }
}

/** Only a grant says how to connect. */
function connectIn(it: Webhook, kind: WebhookAct['kind'], said: unknown): Pick<Progress, 'connect'> {
  const connect = kind === 'grant' ? readConnect(said, it.receiver.words) : undefined
  return connect === undefined ? {} : { connect }
}

async function underWay(it: Webhook, tx: Tx, begun: WebhookAct, said: unknown): Promise<Progress> {
  if (begun.reference !== null) return { done: false, reference: begun.reference }
  const reference = it.receiver.words(said)?.slice(0, 100).toWellFormed() ?? null
  if (reference !== null) await saveWebhookReference(tx, begun.id, reference)
  return { done: false, reference: reference ?? begun.id }
}

async function save(
  it: Webhook,
  tx: Tx,
  id: string,
  outcome: 'done' | 'failed',
  message: string | null,
): Promise<void> {
  await saveWebhookOutcome(tx, { provisioner_id: it.opening.provisioner_id, id }, outcome, message)
}

async function poll(
  it: Webhook,
  tx: Tx,
  target: WebhookTarget,
  reference: string,
  signal: AbortSignal,
): Promise<Progress> {
  const last = await findWebhookAct(tx, placeOf(it, target))
  // It is done, or a later act replaced it: there is nothing to wait for.
  if (last === undefined || ![last.id, last.reference].includes(reference)) return { done: true, reference }
  if (last.outcome === 'done')
    return { done: true, reference, ...connectIn(it, last.kind, JSON.parse(last.connect ?? 'null')) }
  if (last.outcome === 'failed') {
    throw new TargetError(
      'permanent',
      it.receiver.words(last.message) ?? 'the receiver reported a failure without a `message`',
    )
  }
  return it.receiver.withinLimit(last.kind === 'revoke' ? 'takes' : 'gives', () =>
    sendAct(it, tx, target, last, signal),
  )
}

async function verify(
  it: Webhook,
  tx: Tx,
  target: WebhookTarget,
  until: Date | null,
  signal: AbortSignal,
): Promise<Held> {
  if (it.config.verifies === false) {
    const last = await findWebhookAct(tx, placeOf(it, target))
    const held = heldByLastAnswer(last, until)
    return held === 'held' && endsEarly(last, last?.until ?? null, until, await it.receiver.now(tx))
      ? 'ends_early'
      : held
  }
  const { key, ...actData } = target
  const message = { type: 'access.verify', data: { ...actData, ...(until !== null && { until }) } }
  const priority = until === null ? 'takes' : 'gives'
  const { fields } = await it.receiver.withinLimit(priority, () => it.receiver.send(tx, message, signal))
  const held = readHeld(fields.status)
  if (held === 'absent' || until === null || typeof fields.until !== 'string') return held
  const last = await findWebhookAct(tx, placeOf(it, target))
  return endsEarly(last, fields.until, until, await it.receiver.now(tx)) ? 'ends_early' : 'held'
}

/** The held state by the last outcome, when the receiver cannot verify. Without an outcome, the state that repeats the act. */
function heldByLastAnswer(last: WebhookAct | undefined, until: Date | null): Held {
  if (last === undefined) return 'absent'
  if (last.kind === 'grant' && last.outcome === 'done') return 'held'
  return until === null ? 'held' : 'absent'
}

const leewayMs = 60_000

/**
 * Whether access that ends by itself must be given again. It must where the receiver was never asked for so late an end: another grant
 * joined, one was extended, or the receiver took so long to begin that the grant ends later than planned. Where it was, and ends the
 * access earlier by its own choice, durations are compared, since giving it again changes nothing.
 */
function endsEarly(last: WebhookAct | undefined, ends: string | null, until: Date | null, now: Date): boolean {
  if (ends === null || until === null || last === undefined || until.getTime() <= Date.parse(ends)) return false
  if (last.until !== null && until.getTime() > Date.parse(last.until)) return true
  return until.getTime() - now.getTime() > Date.parse(ends) - Date.parse(last.begun_at) + leewayMs
}

function readHeld(status: unknown): 'held' | 'absent' {
  if (status === 'held' || status === 'absent') return status
  throw new TargetError('transient', 'the receiver answered 200 without a `status` of `held` or `absent`')
}

async function health({ receiver, config, opening }: Webhook, tx: Tx, signal: AbortSignal): Promise<Check[]> {
  const fault = await opening.egress.findFault(config.url)
  const address: Check = {
    what: 'the address may be called',
    ok: fault === undefined,
    message: fault === undefined ? null : `\`url\` ${fault}`,
  }
  if (!address.ok) return [address]
  const ping = { type: 'access.ping', data: {} }
  const answers = await checked('it answers a signed message', async () => {
    const { fields } = await receiver.send(tx, ping, signal)
    return fields.status === 'ok' ? null : 'answer `access.ping` with `{"status": "ok"}`'
  })
  if (!answers.ok) return [address, answers]
  const refuses = await checked('it refuses messages without a valid signature', async () =>
    (await receiver.takesUnsigned(tx, ping, signal))
      ? 'it accepted a message with a wrong signature: verify signatures, or anyone can give access'
      : null,
  )
  return [address, answers, refuses]
}

async function checked(what: string, check: () => Promise<string | null>): Promise<Check> {
  const message = await check().catch((error: unknown) => {
    if (error instanceof Error) return error.message
    throw error
  })
  return { what, ok: message === null, message }
}

function placeOf({ opening }: Webhook, { key }: WebhookTarget) {
  return { provisioner_id: opening.provisioner_id, target_key: key }
}
