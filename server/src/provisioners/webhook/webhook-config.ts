import { signingSecretForm } from '../../egress/standard-webhooks.ts'
import type { Egress } from '../../kernel/context.ts'
import type { FaultyField } from '../../kernel/errors.ts'
import { flagField, numberField, type ShownFields, urlField } from '../../kernel/shown-field.ts'
import type { Config } from '../driver.ts'

/** A config that has no faults. */
export type WebhookConfig = {
  /** Where messages are sent. */
  url: string
  /** More headers of each message, such as a gateway's key; secret as a whole. */
  headers?: Readonly<Record<string, string>>
  /** The receiver can tell what is held. Left out: it can. */
  verifies?: boolean
  /** How many calls the receiver takes at once, half of them kept for what takes access away. Left out: 10. */
  calls_at_once?: number
  /** Made by us. */
  signing_secret: string
}

export const shownFields: ShownFields = { url: urlField, verifies: flagField, calls_at_once: numberField }

type Fault = string | undefined

const headerForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const headerValueForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/
/** What the call itself needs, or the signature. */
const ownHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|webhook-.*|user-agent)$/i
const mostHeaders = 20

const fields: Readonly<Record<keyof WebhookConfig, (value: unknown, egress: Egress) => Fault | Promise<Fault>>> = {
  url: findUrlFault,
  headers: findHeadersFault,
  verifies: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  calls_at_once: (value) =>
    Number.isInteger(value) && Number(value) >= 2 && Number(value) <= 100
      ? undefined
      : 'must be a number from 2 to 100',
  signing_secret: (value) =>
    typeof value === 'string' && signingSecretForm.test(value) ? undefined : 'is made by the service',
}

export async function findFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const faults: FaultyField[] = []
  const fault = (name: string, why: Fault) => why !== undefined && faults.push({ pointer: `/config/${name}`, why })
  for (const name of Object.keys(config)) {
    if (!Object.hasOwn(fields, name)) fault(name.replaceAll('~', '~0').replaceAll('/', '~1'), 'is not known here')
  }
  if (config.url === undefined) fault('url', 'is missing: the https address of your receiver')
  for (const [name, find] of Object.entries(fields)) {
    if (config[name] !== undefined) fault(name, await find(config[name], egress))
  }
  return faults
}

async function findUrlFault(value: unknown, egress: Egress): Promise<Fault> {
  if (typeof value !== 'string') return 'must be an https address'
  const fault = await egress.findFault(value)
  if (fault !== undefined) return fault
  return urlField.shows(value) && new URL(value).href.length <= 500
    ? undefined
    : 'must be at most 500 characters without a query or a fragment, which are shown: send secrets in `headers`'
}

function findHeadersFault(value: unknown): Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be an object of names and values'
  const entries = Object.entries(value)
  if (entries.length > mostHeaders) return `must hold at most ${mostHeaders} headers`
  for (const [name, text] of entries) {
    if (!headerForm.test(name)) return 'holds a name that no header can have'
    if (ownHeaders.test(name)) return `holds \`${name}\`, which is set by the message itself`
    if (typeof text !== 'string' || !headerValueForm.test(text)) {
      return `holds a value of \`${name}\` that is not printable ASCII of at most 4,096 characters`
    }
  }
  return undefined
}
