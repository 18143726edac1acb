import type { Operation, Violation } from './history.ts'
import { seenIn } from './seen.ts'

/** A violation in lines: the rule, and the operations that contradict one another. */
export function linesOf({ rule, what, operations }: Violation): string[] {
  const [first] = operations
  const start = first?.began ?? 0
  return [`${rule}: ${what}`, ...operations.map((operation) => `  ${lineOf(operation, start, what)}`)]
}

/** Times are in milliseconds from the first of the operations. Of a list only those records are shown that `what` names. */
function lineOf(operation: Operation, start: number, what: string): string {
  const { nth, caller, process, began, ended, call, answer } = operation
  const until = Number.isFinite(ended) ? (ended - start).toFixed(1) : 'never'
  const about = 'request' in call ? ` ${call.request}` : 'grant' in call ? ` ${call.grant}` : ''
  const more = 'status' in call && call.status !== null ? ` (${call.status})` : ''
  const asked = `#${nth} ${caller.name} ${caller.id} at process ${process}: ${call.name}${about}${more}`
  return `${(began - start).toFixed(1)} to ${until} ms  ${asked}  =>  ${answer === undefined ? 'no answer' : shown(operation, what)}`
}

function shown(operation: Operation, what: string): string {
  const { answer, call } = operation
  const seen = seenIn(operation)
  const isNamed = ({ id }: { id: string }) => what.includes(id)
  const [requests, grants] = [seen.requests.filter(isNamed), seen.grants.filter(isNamed)]
  const records = [
    ...requests.map(({ id, status, decided_by }) => `request ${id} ${status}${decided_by ? ` by ${decided_by}` : ''}`),
    ...grants.map((grant) => {
      const by = grant.ended_by ? ` by ${grant.ended_by}` : ''
      const extended = grant.extended_by ? `, extended by ${grant.extended_by.request_id}` : ''
      return `grant ${grant.id} ${grant.status}/${grant.provisioning_status}${by}${extended}`
    }),
  ]
  if (answer !== undefined && answer.status >= 400) records.push(JSON.stringify(answer.body))
  if (call.name === 'read its events' || call.name === 'read grant events')
    records.push(...((answer?.body.data ?? []) as { type: string }[]).map(({ type }) => type))
  return `${answer?.status} ${records.join('; ') || (call.name.startsWith('list') ? 'a list without them' : '')}`.trim()
}
