/** Counts how a draft changes who may decide requests. Pure. */
import type { AccessRequest } from '../../requests/request.ts'
import { type ChangedApprovers, type ComparedApprovers, maxShown, maxUsers } from './replay.ts'
import { type Answers, isUndecidable } from './tally.ts'

/** What the draft changes for a possible approver of a request, and whether the approver may decide it by the draft. */
type ApproverDifference = { change: 'added' | 'removed' | 'undecidable' | undefined; may: boolean }

/** The difference between the answers to the question whether a user may decide a request. */
export function differenceOf(answers: Answers): ApproverDifference {
  const { before, after } = answers
  const may = after.allowed
  if (isUndecidable(answers)) return { change: 'undecidable', may }
  if (before.allowed === may) return { change: undefined, may }
  return { change: may ? 'added' : 'removed', may }
}

/** The counted approvers of one request; of the changed ones some are named. */
type RequestApprovers = {
  request: AccessRequest | undefined
  counts: Record<'added' | 'removed' | 'undecidable', number>
  named: Record<'added' | 'removed', string[]>
  /** Whether somebody may decide it by the draft. */
  isDecidable: boolean
}

/** Counts the possible approvers of one request. */
export function openRequestTally() {
  const counted: RequestApprovers = {
    request: undefined,
    counts: { added: 0, removed: 0, undecidable: 0 },
    named: { added: [], removed: [] },
    isDecidable: false,
  }
  return {
    isAbout(request: AccessRequest): void {
      counted.request = request
    },
    add(user_id: string, { change, may }: ApproverDifference): void {
      counted.isDecidable ||= may
      if (change === undefined) return
      counted.counts[change] += 1
      if (change !== 'undecidable' && counted.named[change].length < maxUsers) counted.named[change].push(user_id)
    },
    result: () => counted,
  }
}

/** Counts the requests passed to it, of `total`; the latest comes first. */
export function openApproverTally(total: number) {
  const all: ComparedApprovers = {
    ...{ requests: 0, total, changed: 0, added: 0, removed: 0, nobody_left: 0, undecidable: 0 },
    by_request: [],
  }
  return {
    add({ request, counts, named, isDecidable }: RequestApprovers): void {
      all.requests += 1
      all.undecidable += counts.undecidable
      if (request === undefined || counts.added + counts.removed === 0) return
      // A user about whom the engine could not answer may still be able to decide.
      const nobody_left = counts.removed > 0 && !isDecidable && counts.undecidable === 0
      all.changed += 1
      all.added += counts.added
      all.removed += counts.removed
      if (nobody_left) all.nobody_left += 1
      if (all.by_request.length < maxShown) {
        const shown = (change: 'added' | 'removed') => ({
          users: named[change],
          more: counts[change] - named[change].length,
        })
        all.by_request.push({ ...factsOf(request), added: shown('added'), removed: shown('removed'), nobody_left })
      }
    },
    result: () => all,
  }
}

function factsOf(request: AccessRequest): Omit<ChangedApprovers, 'added' | 'removed' | 'nobody_left'> {
  const { id, status, created_at, requester_id, resource, action } = request
  return { request_id: id, status, created_at, requester_id, resource, action }
}
