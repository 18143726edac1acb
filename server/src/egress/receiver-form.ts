import type { Egress } from '../kernel/context.ts'
import { urlField } from '../kernel/shown-field.ts'

/** What is wrong with a field, as a half-sentence after its name. */
type Fault = string | undefined

const maxUrlLength = 500
const headerForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
export const headerValueForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/
/** Headers that the call or the signature sets. */
const ownHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|webhook-.*|user-agent)$/i
export const maxHeaders = 20

/** Why signed messages may not be sent to this address. */
export async function findReceiverFault(value: unknown, egress: Egress): Promise<Fault> {
  if (typeof value !== 'string') return 'must be an https address'
  const fault = await egress.findFault(value)
  if (fault !== undefined) return fault
  return urlField.shows(value) && new URL(value).href.length <= maxUrlLength
    ? undefined
    : `must be at most ${maxUrlLength} characters without a query or a fragment, since the address is visible: send secrets in \`headers\``
}

/** Why signed messages may not have these headers beside their own. */
export function findHeadersFault(value: unknown): Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be an object of header names and values'
  const entries = Object.entries(value)
  if (entries.length > maxHeaders) return `must contain at most ${maxHeaders} headers`
  for (const [name, text] of entries) {
    if (!headerForm.test(name)) return 'contains an invalid header name'
    if (ownHeaders.test(name)) return `contains \`${name}\`, which Sallyport sets itself; leave it out`
    if (typeof text !== 'string' || !headerValueForm.test(text)) {
      return `contains a value of \`${name}\` that is not printable ASCII of at most 4,096 characters`
    }
  }
  return undefined
}
