/** Tests call faster, and with more that is wrong, than anybody would from one address. Those of the limits leave this out. */
export const unlimited = { RATE_LIMIT_PER_SECOND: '0', LIMIT_BY_SOURCE: 'off' } as const

/** What a service is started with that nobody set up. */
export const asShipped = { RATE_LIMIT_PER_SECOND: '', LIMIT_BY_SOURCE: '' } as const
