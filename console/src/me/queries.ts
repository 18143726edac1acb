import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { ifMatch, withTag } from '../api/tagged.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import type { Preferences } from './preferences.ts'

export const profileQuery = queryOptions({
  queryKey: ['me', 'profile'],
  queryFn: () => answerOf(api.GET('/v1/users/me/profile')),
})

export const preferencesQuery = queryOptions({
  queryKey: ['me', 'preferences'],
  queryFn: () => withTag(api.GET('/v1/users/me/preferences')),
})

export const savePreferences = (body: Partial<Preferences>, tag: string | null) =>
  answerOf(api.PATCH('/v1/users/me/preferences', { params: ifMatch(tag), body }))

export const mailsQuery = queryOptions({
  queryKey: ['me', 'mails'],
  queryFn: () => withTag(api.GET('/v1/users/me/notification-preferences')),
})

export type Mails = Schemas['NotificationPreferences']

export const saveMails = (kinds: Mails['kinds'], tag: string | null) =>
  answerOf(api.PUT('/v1/users/me/notification-preferences', { params: ifMatch(tag), body: { kinds } }))

export const changePassword = (body: { current_password: string; new_password: string }) =>
  answerOf(api.POST('/v1/users/me/password', { body }))

export const factorsQuery = queryOptions({
  queryKey: ['me', 'factors'],
  queryFn: () => answerOf(api.GET('/v1/users/me/second-factors')),
})

export type BegunFactor = Schemas['BegunSecondFactor']

export const beginFactor = (kind: BegunFactor['kind'], name: string) =>
  answerOf(api.POST('/v1/users/me/second-factors', { body: { kind, name } }))

export const confirmFactor = (id: string, body: { totp: string } | { passkey: Record<string, unknown> }) =>
  answerOf(api.POST('/v1/users/me/second-factors/{id}/confirm', { params: { path: { id } }, body }))

export const removeFactor = (id: string) =>
  answerOf(api.DELETE('/v1/users/me/second-factors/{id}', { params: { path: { id } } }))

export const replaceRecoveryCodes = () => answerOf(api.POST('/v1/users/me/recovery-codes'))

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: ({ pageParam: cursor }) =>
    answerOf(api.GET('/v1/users/me/sessions', { params: { query: pageBehind(cursor) } })),
  ...growing,
})

export const endSession = (id: string) =>
  answerOf(api.DELETE('/v1/users/me/sessions/{id}', { params: { path: { id } } }))

export const endOtherSessions = () => answerOf(api.DELETE('/v1/users/me/sessions'))
