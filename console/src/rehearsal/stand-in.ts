/**
 * A window that acts as a colleague of the rehearsal: the id of that user stands at the start of all its addresses, so that the window stays who it
 * is when it is loaded again, and no address of it opens as the owner.
 */
const place = /^\/console\/as\/([0-9a-f]{8}-[0-9a-f-]{27})(?=\/|$)/

/** The user whom an address names; undefined where a person acts as themselves. */
export const standInOf = (path: string): string | undefined => place.exec(path)?.[1]

/** The address of a page for a colleague; `page` begins with a slash. */
export const addressAs = (user_id: string, page: string): string => `/console/as/${user_id}${page}`

/** Whom this window acts as; undefined: the person who is signed in. */
export const standIn = typeof location === 'undefined' ? undefined : standInOf(location.pathname)

/** What the addresses of this window begin with. */
export const basePath = standIn === undefined ? '/console' : addressAs(standIn, '')
