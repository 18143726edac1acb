import { beginAuthorization } from './auth/begin-authorization.ts'
import { checkInvitation } from './auth/check-invitation.ts'
import { checkSetupLink } from './auth/check-setup-link.ts'
import { discoverTenant } from './auth/discover-tenant.ts'
import { exchangeAuthorizationCode } from './auth/exchange-authorization-code.ts'
import { finishSecondFactor } from './auth/finish-second-factor.ts'
import { getJwks } from './auth/get-jwks.ts'
import { issueRefreshToken } from './auth/issue-refresh-token.ts'
import { login } from './auth/login.ts'
import { logout } from './auth/logout.ts'
import { receiveLogoutToken } from './auth/receive-logout-token.ts'
import { refreshSession } from './auth/refresh-session.ts'
import { startSession } from './auth/start-session.ts'
import { useInvitation } from './auth/use-invitation.ts'
import { useSetupLink } from './auth/use-setup-link.ts'
import type { Operation } from './http/operation.ts'

/** Signing in and out, and what callers without a credential may do. */
export const signInOperations: Record<string, Operation> = {
  discoverTenant,
  login,
  finishSecondFactor,
  beginAuthorization,
  exchangeAuthorizationCode,
  startSession,
  issueRefreshToken,
  refreshSession,
  checkSetupLink,
  useSetupLink,
  checkInvitation,
  useInvitation,
  logout,
  receiveLogoutToken,
  getJwks,
}
