import type { Egress } from '../kernel/context.ts'
import { urlField } from '../kernel/shown-field.ts'

/** Why a field is not as it must be, in a half-sentence. */
type Fault = string | undefined

const maxUrlLength = 500
const headerForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const headerValueForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/
/** What the call itself needs, or the signature. */
const ownHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|webhook-.*|user-agent)$/i
const maxHeaders = 20

/** Why signed messages may not be sent to this address. */
export async function findReceiverFault(value: unknown, egress: Egress): Promise<Fault> {
  if (typeof value !== 'string') return 'must be an https address'
  const fault = await egress.findFault(value)
  if (fault !== undefined) return fault
  return urlField.shows(value) && new URL(value).href.length <= maxUrlLength
    ? undefined
    : `must be at most ${maxUrlLength} characters without a query or a fragment, which are shown: send secrets in \`headers\``
}

/** Why signed messages may not have these headers beside their own. */
export function findHeadersFault(value: unknown): Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be an object of names and values'
  const entries = Object.entries(value)
  if (entries.length > maxHeaders) return `must hold at most ${maxHeaders} headers`
  for (const [name, text] of entries) {
    if (!headerForm.test(name)) return 'holds a name that no header can have'
    if (ownHeaders.test(name)) return `holds \`${name}\`, which is set by the message itself`
    if (typeof text !== 'string' || !headerValueForm.test(text)) {
      return `holds a value of \`${name}\` that is not printable ASCII of at most 4,096 characters`
    }
  }
  return undefined
}
