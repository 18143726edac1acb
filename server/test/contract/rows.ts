/** The status and code of one outcome in the interface. */
export type Outcome = readonly [status: number, code: string]

/** An endpoint of the interface: its address, its credential, and every outcome that its page names. */
export type Row = {
  method: string
  path: string
  credential: 'none' | 'token' | 'api_key'
  success: number
  errors: Readonly<Record<string, Outcome>>
}

const unauthenticated = { Unauthenticated: [401, 'unauthenticated'] } as const
const forbidden = { Forbidden: [403, 'forbidden'] } as const
const notFound = { 'Not found': [404, 'not_found'] } as const
const invalidInput = { 'Invalid input': [400, 'invalid_input'] } as const

/** The 21 endpoints of the interface, by their numbers there. */
export const rows = {
  1: {
    method: 'POST',
    path: '/v1/auth/callback',
    credential: 'none',
    success: 200,
    errors: { 'Invalid or expired authorization code': [401, 'invalid_authorization_code'] },
  },
  2: {
    method: 'POST',
    path: '/v1/requests/{id}/approve',
    credential: 'api_key',
    success: 200,
    errors: {
      ...unauthenticated,
      ...forbidden,
      ...notFound,
      'Request not in pending state': [409, 'request_not_pending'],
    },
  },
  3: {
    method: 'PATCH',
    path: '/v1/roles/{role_id}',
    credential: 'token',
    success: 200,
    errors: {
      ...unauthenticated,
      ...forbidden,
      'Forbidden (system role)': [403, 'forbidden'],
      ...notFound,
      Unprocessable: [422, 'unprocessable'],
    },
  },
  4: {
    method: 'POST',
    path: '/v1/policies/{id}/rules',
    credential: 'api_key',
    success: 201,
    errors: { 'Invalid policy': [400, 'invalid_policy'], ...unauthenticated, ...forbidden, ...notFound },
  },
  5: {
    method: 'PUT',
    path: '/v1/settings/{setting_key}',
    credential: 'api_key',
    success: 200,
    errors: { ...invalidInput, ...unauthenticated, ...forbidden },
  },
  6: {
    method: 'POST',
    path: '/v1/notification-channels/email',
    credential: 'api_key',
    success: 201,
    errors: { ...invalidInput, ...unauthenticated, Unauthorized: [401, 'unauthenticated'] },
  },
  7: {
    method: 'PUT',
    path: '/v1/cloud/accounts',
    credential: 'api_key',
    success: 200,
    errors: { 'Bad Request': [400, 'invalid_input'], ...unauthenticated, ...forbidden },
  },
  8: {
    method: 'GET',
    path: '/v1/api-keys',
    credential: 'api_key',
    success: 200,
    errors: { ...unauthenticated, ...forbidden },
  },
  9: {
    method: 'PUT',
    path: '/v1/settings/ai-provider-default',
    credential: 'api_key',
    success: 200,
    errors: { ...invalidInput, ...unauthenticated, ...forbidden },
  },
  10: {
    method: 'PATCH',
    path: '/v1/policies/reorder',
    credential: 'api_key',
    success: 204,
    errors: { ...invalidInput, ...unauthenticated, ...forbidden },
  },
  11: {
    method: 'POST',
    path: '/v1/users',
    credential: 'token',
    success: 201,
    errors: {
      ...invalidInput,
      ...unauthenticated,
      ...forbidden,
      'User already exists': [409, 'user_exists'],
      'Unprocessable entity': [422, 'unprocessable'],
    },
  },
  12: {
    method: 'DELETE',
    path: '/v1/requests/{id}',
    credential: 'api_key',
    success: 204,
    errors: {
      ...unauthenticated,
      ...forbidden,
      ...notFound,
      'Request not in a cancellable state': [409, 'request_not_cancellable'],
    },
  },
  13: {
    method: 'POST',
    path: '/v1/groups/{id}/members',
    credential: 'token',
    success: 201,
    errors: {
      ...invalidInput,
      ...unauthenticated,
      ...forbidden,
      'Group or user not found': [404, 'not_found'],
      'User is already a member': [409, 'already_member'],
    },
  },
  14: {
    method: 'PATCH',
    path: '/v1/users/me/preferences',
    credential: 'token',
    success: 200,
    errors: { 'Validation error': [400, 'invalid_input'], ...unauthenticated, Forbidden: [403, 'tenant_mismatch'] },
  },
  15: {
    method: 'GET',
    path: '/v1/access/requests/{id}',
    credential: 'token',
    success: 200,
    errors: { ...unauthenticated, 'Request not found': [404, 'not_found'] },
  },
  16: {
    method: 'GET',
    path: '/v1/identity-providers/{id}',
    credential: 'api_key',
    success: 200,
    errors: { ...unauthenticated, ...forbidden, ...notFound },
  },
  17: {
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    credential: 'api_key',
    success: 200,
    errors: { ...unauthenticated, ...forbidden, ...notFound },
  },
  18: { method: 'GET', path: '/v1/permissions', credential: 'token', success: 200, errors: unauthenticated },
  19: {
    method: 'PUT',
    path: '/v1/users/me/profile',
    credential: 'token',
    success: 200,
    errors: {
      'Invalid input (avatar too large)': [400, 'invalid_input'],
      'Invalid input (fields managed by the identity provider)': [400, 'invalid_input'],
      ...unauthenticated,
    },
  },
  20: {
    method: 'GET',
    path: '/v1/groups',
    credential: 'token',
    success: 200,
    errors: { ...unauthenticated, ...forbidden },
  },
  21: {
    method: 'POST',
    path: '/v1/users/me/notifications/{id}/read',
    credential: 'token',
    success: 200,
    errors: { Unauthorized: [401, 'unauthenticated'], 'Not Found': [404, 'not_found'] },
  },
} as const satisfies Record<number, Row>

export type Endpoint = keyof typeof rows
