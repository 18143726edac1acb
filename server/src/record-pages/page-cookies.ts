import { cookiesOf } from '../http/cookie.ts'
import type { CursorCodec } from '../http/cursor.ts'
import type { PageRequest } from '../http/form-pages.ts'
import { isUuid } from '../kernel/id.ts'

/** The kinds of records that have a page. */
export const nouns = ['requests', 'grants'] as const
export type Noun = (typeof nouns)[number]
/** The record whose page a person wants to see. */
export type Place = { noun: Noun; id: string }

/** What a person filled in, and could not send because their session was over. */
export type Draft = {
  /** Who filled it in: another person does not see it. */
  who: string
  act: string
  note: string
  duration: string
}

/** A page of the console: `id` is what follows `/console/` in its address. */
type ConsolePlace = { noun: 'console'; id: string }

/** Where a sign-in leads back to. */
export type Return = (Place | ConsolePlace) & {
  /** The tenant at whose provider the person signs in; undefined for a sign-in here. */
  tenant_id?: string | undefined
  draft?: Draft | undefined
}

/** The cookies of these pages, beside that of the session. */
export type PageCookies = {
  /** Undefined where the draft is too long for a cookie. */
  setReturn(to: Return): string | undefined
  clearReturn(): string
  readReturn(header: PageRequest['header']): Return | undefined
  setOrganization(tenant_id: string): string
  /** The tenant of the last sign-in in this browser. */
  readOrganization(header: PageRequest['header']): string | undefined
}

/** As long as a sign-in at a provider may take, in seconds. */
const returnSeconds = 600
const organizationSeconds = 180 * 86_400
/** Browsers keep cookies of 4,096 bytes, with their names. */
const maxLength = 3_900
const purpose = ['record-pages', 'return']

/**
 * Where a sign-in leads back to is sealed, in the browser that began it on a page of this service: so no other site chooses it, and a sign-in
 * at a provider that another site began ends nowhere. A note stands in no address.
 */
export function pageCookies(publicUrl: string, codec: CursorCodec): PageCookies {
  const { protocol, port } = new URL(publicUrl)
  const secure = protocol === 'https:'
  const nameOf = (what: string) => (secure ? `__Host-sallyport-${what}` : `sallyport-${what}-${port || '80'}`)
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const set = (what: string, value: string, seconds: number) =>
    `${nameOf(what)}=${value}; Max-Age=${seconds}; ${attributes}`
  /** Of two cookies of one name another program planted one. */
  const read = (what: string, header: PageRequest['header']) => {
    const [value, another] = cookiesOf(header('cookie'), nameOf(what))
    return another === undefined ? value : undefined
  }
  return {
    setReturn({ noun, id, tenant_id = '', draft }) {
      const { who = '', act = '', note = '', duration = '' } = draft ?? {}
      const sealed = codec.seal([noun, id, tenant_id, act, note, duration, who], purpose)
      return sealed.length > maxLength ? undefined : set('return', sealed, returnSeconds)
    },
    clearReturn: () => set('return', '', 0),
    readReturn(header) {
      const sealed = read('return', header)
      const opened = sealed === undefined ? undefined : codec.find(sealed, purpose)
      return opened && returnOf(opened)
    },
    setOrganization: (tenant_id) => set('organization', tenant_id, organizationSeconds),
    readOrganization(header) {
      const value = read('organization', header)
      return value !== undefined && isUuid(value) ? value : undefined
    },
  }
}

function returnOf([noun, id = '', tenant_id = '', act = '', note = '', duration = '', who = '']: readonly string[]) {
  const place = noun === 'console' ? consolePlace(id) : recordPlace(noun, id)
  return (
    place && {
      ...place,
      tenant_id: tenant_id === '' ? undefined : tenant_id,
      draft: act === '' ? undefined : { who, act, note, duration },
    }
  )
}

function recordPlace(noun: string | undefined, id: string): Place | undefined {
  const known = nouns.find((one) => one === noun)
  return known === undefined || !isUuid(id) ? undefined : { noun: known, id }
}

/** A page of the console, by what follows `/console/`; undefined for what could lead elsewhere. */
export function consolePlace(path: string): ConsolePlace | undefined {
  return /^(?:[\w-]+(?:\/[\w-]+)*)?(?:\?[\w\-=&%.+]*)?$/.test(path) && path.length <= 500
    ? { noun: 'console', id: path }
    : undefined
}
