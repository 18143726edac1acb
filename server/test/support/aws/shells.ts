import type * as ssm from '@aws-sdk/client-ssm'
import type { Cloud, ShellSession } from './cloud.ts'
import { page } from './pages.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** Session Manager, as each account has its own in each region. */
export const shellHandlers = (cloud: Cloud) =>
  ({
    DescribeSessions: (input: ssm.DescribeSessionsRequest, call: Call): ssm.DescribeSessionsResponse => {
      const listed = [...cloud.shells.values()].filter(
        (one) =>
          isThere(one, call) &&
          one.ended === (input.State === 'History') &&
          (input.Filters ?? []).every(({ key, value }) => fits(one, key, value)),
      )
      const { items, NextToken } = page(call, listed, cloud.settings.page)
      return {
        Sessions: items.map(({ id, target, owner, ended }) => ({
          SessionId: id,
          Target: target,
          Owner: owner,
          Status: ended ? 'Terminated' : 'Connected',
        })),
        NextToken,
      }
    },

    TerminateSession: (input: ssm.TerminateSessionRequest, call: Call): ssm.TerminateSessionResponse => {
      const session = cloud.shells.get(input.SessionId ?? '')
      if (session === undefined || !isThere(session, call))
        throw new AwsError('DoesNotExistException', `Session ${input.SessionId} does not exist`)
      session.ended = true
      return { SessionId: session.id }
    },
  }) as const satisfies Handlers

const isThere = ({ account, region }: ShellSession, call: Call): boolean =>
  account === call.caller.account && region === call.region

function fits({ id, target, owner }: ShellSession, key: string | undefined, value: string | undefined): boolean {
  const known: Readonly<Record<string, string>> = { Target: target, Owner: owner, SessionId: id }
  if (key === undefined || !(key in known)) throw new AwsError('InvalidFilterKey', `${key} is not told apart here`)
  return known[key] === value
}
