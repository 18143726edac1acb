import { describeAction } from './actions/describe-action.ts'
import { getAction } from './actions/get-action.ts'
import { listActions } from './actions/list-actions.ts'
import { removeActionDescription } from './actions/remove-action-description.ts'
import { driverTypes } from './app.ts'
import { addFavourite } from './catalogue/add-favourite.ts'
import { listCatalogue } from './catalogue/list-catalogue.ts'
import { listFavourites } from './catalogue/list-favourites.ts'
import { removeFavourite } from './catalogue/remove-favourite.ts'
import { countGrants } from './grants/count-grants.ts'
import { createGrantCredentials } from './grants/create-grant-credentials.ts'
import { getGrant } from './grants/get-grant.ts'
import { listGrants } from './grants/list-grants.ts'
import { retryGrant } from './grants/retry-grant.ts'
import { revokeGrant } from './grants/revoke-grant.ts'
import type { Operation } from './http/operation.ts'
import { listPolicyCases } from './policies/cases/list-policy-cases.ts'
import { replacePolicyCases } from './policies/cases/replace-policy-cases.ts'
import { createPolicy } from './policies/create-policy.ts'
import { createRule } from './policies/create-rule.ts'
import { deletePolicy } from './policies/delete-policy.ts'
import { deleteRule } from './policies/delete-rule.ts'
import { exportPolicy } from './policies/files/export-policy.ts'
import { importPolicy } from './policies/files/import-policy.ts'
import { getPolicy } from './policies/get-policy.ts'
import { getPolicySchema } from './policies/get-policy-schema.ts'
import { getRule } from './policies/get-rule.ts'
import { listPolicies } from './policies/list-policies.ts'
import { reorderPolicies } from './policies/reorder-policies.ts'
import { reorderRules } from './policies/reorder-rules.ts'
import { updatePolicy } from './policies/update-policy.ts'
import { updateRule } from './policies/update-rule.ts'
import { findGains } from './policy-analysis/gains/find-gains.ts'
import { checkInvariants } from './policy-analysis/invariants/check-invariants.ts'
import { getPolicyReplay } from './policy-analysis/replay/get-policy-replay.ts'
import { replayPolicies } from './policy-analysis/replay/replay-policies.ts'
import { testPolicies } from './policy-analysis/test-policies.ts'
import { approveRequest } from './requests/approve-request.ts'
import { cancelRequest } from './requests/cancel-request.ts'
import { countRequests } from './requests/count-requests.ts'
import { createRequest } from './requests/create-request.ts'
import { createRequestComment } from './requests/create-request-comment.ts'
import { decideRequests } from './requests/decide-requests.ts'
import { denyRequest } from './requests/deny-request.ts'
import { extendGrant } from './requests/extend-grant.ts'
import { getAccessRequestStatus } from './requests/get-access-request-status.ts'
import { getRequest } from './requests/get-request.ts'
import { getRequestDecision } from './requests/get-request-decision.ts'
import { listDeciders } from './requests/list-deciders.ts'
import { listRequestComments } from './requests/list-request-comments.ts'
import { listRequests } from './requests/list-requests.ts'
import { previewRequest } from './requests/preview-request.ts'
import { remindDeciders } from './requests/remind-deciders.ts'
import { cancelExtension } from './requests/transition-store.ts'

/** Access requests, grants, and the policies that answer them. */
export const accessOperations: Record<string, Operation> = {
  createRequest,
  previewRequest,
  listCatalogue,
  listFavourites,
  addFavourite,
  removeFavourite,
  listRequests,
  countRequests,
  getRequest,
  getRequestDecision,
  listRequestComments,
  createRequestComment,
  listDeciders,
  approveRequest,
  denyRequest,
  decideRequests,
  cancelRequest,
  remindDeciders,
  getAccessRequestStatus,
  listGrants,
  countGrants,
  getGrant,
  revokeGrant: revokeGrant(cancelExtension),
  retryGrant,
  createGrantCredentials: createGrantCredentials(driverTypes),
  extendGrant,
  createPolicy,
  listPolicies,
  reorderPolicies,
  getPolicySchema,
  checkInvariants,
  listPolicyCases,
  replacePolicyCases,
  testPolicies,
  findGains,
  getPolicy,
  updatePolicy,
  deletePolicy,
  exportPolicy,
  importPolicy,
  createRule,
  reorderRules,
  replayPolicies,
  getPolicyReplay,
  getRule,
  updateRule,
  deleteRule,
  listActions,
  getAction,
  describeAction,
  removeActionDescription,
}
