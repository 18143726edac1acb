/** The kinds of target. */
export const provisionerTypes = ['sandbox'] as const
export type ProvisionerType = (typeof provisionerTypes)[number]
