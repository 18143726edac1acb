import { createHash } from 'node:crypto'
import { makeSigningSecret } from '../../egress/standard-webhooks.ts'
import type { Tx } from '../../kernel/context.ts'
import {
  type Check,
  type Driver,
  type DriverType,
  type GrantAsk,
  type Held,
  type Opening,
  type Plan,
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
import { openReceiver, type Receiver } from './receiver.ts'
import { findFaults, shownFields, type WebhookConfig } from './webhook-config.ts'

/**
 * Any other system: a receiver of yours is told, in messages signed by Standard Webhooks, what to give and what to take
 * away. A poll is the message once more, under its id; the result may also come by itself.
 */
export const webhook: DriverType = {
  shownFields,
  targetFields: ['url'],
  findFaults,
  makeSecrets: () => ({ signing_secret: makeSigningSecret() }),
  open: openWebhook,
}

/** What an act is told to be about; `entitlement` is the receiver's own name of it, or one that we made. */
type ActData = Omit<GrantAsk, 'grant_id' | 'duration_seconds'> & { entitlement: string }
type WebhookTarget = ActData & { key: string }

type Webhook = { receiver: Receiver; config: WebhookConfig; opening: Opening }

const pollDelaysMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000]
const maxPauseMs = 60_000

function openWebhook(opening: Opening): Driver {
  // Its type's `findFaults` found nothing in it.
  const config = opening.config as WebhookConfig
  const secrets = [config.signing_secret, opening.previous.signing_secret ?? []].flat()
  const it: Webhook = { receiver: openReceiver(config, secrets, opening.egress), config, opening }
  return {
    plan: (tx, ask, signal) => plan(it, tx, ask, signal),
    grant: (tx, target, until, signal) => act(it, tx, 'grant', target as WebhookTarget, until, signal),
    revoke: (tx, target, signal) => act(it, tx, 'revoke', target as WebhookTarget, null, signal),
    poll: (tx, target, reference, signal) => poll(it, tx, target as WebhookTarget, reference, signal),
    verify: (tx, target, until, signal) => verify(it, tx, target as WebhookTarget, until, signal),
    // A receiver keeps no list for us: each is verified by itself.
    discover: null,
    health: (tx, signal) => health(it, tx, signal),
    pollAfterMs: (polls) => pollDelaysMs[polls] ?? maxPauseMs,
    close: () => Promise.resolve(),
  }
}

async function plan({ receiver, config }: Webhook, tx: Tx, ask: GrantAsk, signal: AbortSignal): Promise<Plan> {
  const { grant_id, duration_seconds, ...about } = ask
  const { user, resource, account_id, permission_set, action } = ask
  const ours = shortened(JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set, action]))
  const planOf = (entitlement: string, held: boolean, session_seconds: number | null): Plan => {
    const key = JSON.stringify([new URL(config.url).href, entitlement])
    return { key, target: { ...about, entitlement, key } satisfies Target, held, session_seconds }
  }
  if (config.verifies === false) return planOf(ours, false, null)
  const message = { type: 'access.plan', data: { ...about, entitlement: ours, grant_id, duration_seconds } }
  const { fields } = await receiver.withinLimit('gives', () => receiver.send(tx, message, signal))
  const { status, entitlement = ours, session_seconds = null } = fields
  const isTime = session_seconds === null || (Number.isInteger(session_seconds) && Number(session_seconds) >= 0)
  if (typeof entitlement !== 'string' || !/^[\x20-\x7e]{1,500}$/.test(entitlement) || !isTime) {
    throw new TargetError('transient', 'the receiver answered a plan whose `entitlement` or `session_seconds` is none')
  }
  const seconds = session_seconds === null ? null : Math.min(Number(session_seconds), maxSessionSeconds)
  return planOf(entitlement, readHeld(status) === 'held', seconds)
}

/** A name that an index takes. */
function shortened(name: string): string {
  return /^[\x20-\x7e]{1,500}$/.test(name) ? name : createHash('sha256').update(name).digest('hex')
}

/** More than a session lives: what a column of whole numbers takes. */
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

/** Tells the receiver of an act, for the first time or once more: it answers how that stands. */
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
  const data = { ...actData, ...(begun.until !== null && { until: begun.until }), callback }
  try {
    const { status, fields } = await it.receiver.send(tx, { type: `access.${kind}`, data, id, begun_at }, signal)
    if (status === 202) return underWay(it, tx, begun, fields.reference)
    if (fields.status !== 'done') {
      throw new TargetError('transient', 'the receiver answered 200 without `"status": "done"`, which is the protocol')
    }
  } catch (error) {
    // It was refused for good: what comes next is another act. Whatever else it was, this one is tried again.
    if (error instanceof TargetError && error.kind === 'permanent') await save(it, tx, id, 'failed', error.message)
    throw error
  }
  await save(it, tx, id, 'done', null)
  return { done: true, reference: begun.reference ?? id }
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
  // It was done, or another came after it, and counts: there is nothing more to wait for.
  if (last === undefined || ![last.id, last.reference].includes(reference) || last.outcome === 'done') {
    return { done: true, reference }
  }
  if (last.outcome === 'failed') {
    throw new TargetError(
      'permanent',
      it.receiver.words(last.message) ?? 'the receiver says that it failed, without a `message`',
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

/** What its last word comes to where the receiver cannot look; without one, what has the act done again. */
function heldByLastAnswer(last: WebhookAct | undefined, until: Date | null): Held {
  if (last === undefined) return 'absent'
  if (last.kind === 'grant' && last.outcome === 'done') return 'held'
  return until === null ? 'held' : 'absent'
}

const leewayMs = 60_000

/**
 * Whether what ends by itself was given for less long than is wanted now. Lengths are compared, not moments: what took the
 * receiver minutes to begin ends as many minutes early, and giving it again would not mend that.
 */
function endsEarly(last: WebhookAct | undefined, ends: string | null, until: Date | null, now: Date): boolean {
  if (ends === null || until === null || last === undefined) return false
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
  const refuses = await checked('it refuses what we did not sign', async () =>
    (await receiver.takesUnsigned(tx, ping, signal))
      ? 'it took a message with a wrong signature: verify signatures, or anybody can give access'
      : null,
  )
  return [address, answers, refuses]
}

async function checked(what: string, look: () => Promise<string | null>): Promise<Check> {
  const message = await look().catch((error: unknown) => {
    if (error instanceof Error) return error.message
    throw error
  })
  return { what, ok: message === null, message }
}

function placeOf({ opening }: Webhook, { key }: WebhookTarget) {
  return { provisioner_id: opening.provisioner_id, target_key: key }
}
