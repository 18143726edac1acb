/** Tests call faster and fail more often than a real address may. Tests of the limits do not use this. */
export const unlimited = {
  RATE_LIMIT_PER_SECOND: '0',
  TENANT_RATE_LIMIT_PER_SECOND: '0',
  LIMIT_BY_SOURCE: 'off',
} as const

/** The limits of a service that is started without any limits set. */
export const asShipped = {
  RATE_LIMIT_PER_SECOND: '',
  TENANT_RATE_LIMIT_PER_SECOND: '',
  LIMIT_BY_SOURCE: '',
} as const
