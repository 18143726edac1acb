import { type Received, startReceiver, type TestReceiver } from '../support/webhook-receiver.ts'
import { actionsByMode } from './company.ts'
import type { FieldTarget, TargetCall } from './field-target.ts'
import { newAccount } from './sandbox-field.ts'

/** A receiver for each company, since each has its own secret. It works on each message for some time. */
export async function openWebhookField(): Promise<FieldTarget> {
  const receivers: TestReceiver[] = []
  /** Messages that each receiver has worked on. */
  const seen = new Set<string>()
  let refusing = 0
  let later = 1
  let met: { call: TargetCall; moment: 'before' | 'after'; isStruck(): boolean } | undefined

  const callOf = ({ id, type }: Received): TargetCall | undefined => {
    if (type === 'access.verify') return 'verify'
    if (type !== 'access.grant' && type !== 'access.revoke') return undefined
    if (seen.has(id)) return 'poll'
    return type === 'access.grant' ? 'create' : 'delete'
  }
  const behave: TestReceiver['behave'] = (received, usual) => {
    const call = callOf(received)
    if (refusing > 0 && (call === 'create' || call === 'delete')) {
      refusing -= 1
      return { status: 503, body: { message: 'not now' } }
    }
    const isMet = (moment: string) => met?.call === call && met?.moment === moment && met.isStruck()
    if (isMet('before')) return undefined
    seen.add(received.id)
    const reply = usual()
    return isMet('after') ? undefined : reply
  }

  return {
    type: 'webhook',
    env: { EGRESS_ALLOW: '127.0.0.1' },
    async furnish() {
      const receiver = await startReceiver('', { later })
      receiver.behave = behave
      receivers.push(receiver)
      return {
        body: { config: { url: receiver.url }, serves: [{ resource_type: 'cloud_account' }] },
        adopt({ signing_secret }) {
          receiver.secret = signing_secret ?? ''
        },
      }
    },
    welcome: async () => undefined,
    place: (mode) => ({ resource: { type: 'cloud_account', id: newAccount() }, action: actionsByMode[mode] }),
    actionsOf: (mode) => [actionsByMode[mode]],
    setOnAccounts: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1',
    holds: async () =>
      receivers.flatMap(({ url, held }) => [...held.keys()].map((name) => JSON.stringify([url, name, userIn(name)]))),
    meet(call, moment, isStruck) {
      met = { call, moment, isStruck }
    },
    pass() {
      met = undefined
    },
    failsPlans: false,
    injectable: [{ polls: 3 }, { failed: 1 }, { throttled: 2 }],
    async inject({ polls = 1, failed = 0, throttled = 0 }) {
      refusing = failed + throttled
      later = polls
      for (const receiver of receivers) receiver.later = later
    },
    async close() {
      for (const receiver of receivers) await receiver.stop()
    },
  }
}

/** The user's id, with which the driver's own names of entitlements begin. */
function userIn(name: string): string {
  return (JSON.parse(name) as string[])[0] ?? ''
}
