import { findHeadersFault, findReceiverFault } from '../../egress/receiver-form.ts'
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

const fields: Readonly<Record<keyof WebhookConfig, (value: unknown, egress: Egress) => Fault | Promise<Fault>>> = {
  url: findReceiverFault,
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
