import type { Refusal } from '@sallyport/client'

type MaybeRefusal = Error & Partial<Pick<Refusal, 'status' | 'code' | 'details'>>

/** Why the service refuses a field of a body, as a sentence; undefined where the error is about something else. */
export function faultOf(error: MaybeRefusal | undefined, pointer: string): string | undefined {
  const fields: unknown = error?.details?.fields
  if (!Array.isArray(fields)) return undefined
  const fault = (fields as readonly { pointer?: unknown; why?: unknown }[]).find((field) => field.pointer === pointer)
  return typeof fault?.why === 'string' ? `${fault.why.charAt(0).toUpperCase()}${fault.why.slice(1)}.` : undefined
}

/** Whether the act needs a newer or a stronger sign-in. */
export const needsSignIn = (error: MaybeRefusal): boolean => error.code === 'sign_in_again'

/** Whether the sign-in lacks the second factor that the person's roles need. */
export const lacksFactor = (error: MaybeRefusal): boolean => needsSignIn(error) && error.details?.acr === 'mfa'

/** Whether the record was changed since it was read. */
export const isOutdated = (error: MaybeRefusal): boolean => error.status === 412
