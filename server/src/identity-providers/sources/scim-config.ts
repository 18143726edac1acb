import { headerValueForm } from '../../egress/receiver-form.ts'
import type { Egress } from '../../kernel/context.ts'
import type { FaultyField } from '../../kernel/errors.ts'
import { urlField } from '../../kernel/shown-field.ts'
import type { Config } from '../../provisioners/driver.ts'

/** Where and as whom a SCIM server is read. */
export type ScimConfig = {
  /** Below it are `/Users` and `/Groups`. It ends without `/`. */
  base_url: string
  token: string
  page_size: number
}

const [usualPageSize, maxPageSize] = [100, 1_000]

/** A config without faults. */
export function scimConfigOf({ base_url, token, page_size = usualPageSize }: Config): ScimConfig {
  return { base_url: withoutSlashes(String(base_url)), token: String(token), page_size: Number(page_size) }
}

function withoutSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

/** What is wrong with a field, as a half-sentence after its name. */
type Fault = string | undefined

export async function findFaults(config: Config, egress: Egress): Promise<FaultyField[]> {
  const { base_url, token, page_size } = config
  const found: Readonly<Record<keyof ScimConfig, Fault>> = {
    base_url: await findUrlFault(base_url, egress),
    token: findTokenFault(token),
    page_size: page_size === undefined ? undefined : findSizeFault(page_size),
  }
  return Object.entries(found).flatMap(([name, why]) =>
    why === undefined ? [] : [{ pointer: `/config/${name}`, why }],
  )
}

async function findUrlFault(value: unknown, egress: Egress): Promise<Fault> {
  if (value === undefined) return 'is required: the https address below which the SCIM server has `/Users`'
  if (typeof value !== 'string') return 'must be an https address'
  const fault = await egress.findFault(value)
  if (fault !== undefined) return fault
  if (!urlField.shows(value)) return 'must be at most 500 characters, without a query or a fragment'
  return /\/(?:Users|Groups)\/*$/i.test(value) ? 'must end before `/Users` and `/Groups`' : undefined
}

function findTokenFault(value: unknown): Fault {
  if (value === undefined) return 'is required: the bearer token that the SCIM server takes'
  if (typeof value !== 'string' || !headerValueForm.test(value))
    return 'must be printable ASCII of 1 to 4,096 characters'
  return /^bearer\s/i.test(value) ? 'must be the token alone, without `Bearer`' : undefined
}

function findSizeFault(value: unknown): Fault {
  const isFine = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxPageSize
  return isFine ? undefined : 'must be a number from 1 to 1000'
}
