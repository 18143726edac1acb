import { refuse } from './model.ts'
import type { Call, ServiceName } from './wire.ts'

/** A page of a list and the token of the next page, which is valid only for the same call. */
export function page<Item>(
  call: Call,
  items: readonly Item[],
  most: number,
): { items: Item[]; NextToken: string | undefined } {
  const { NextToken, MaxResults, ...filters } = call.input as { NextToken?: string; MaxResults?: number }
  const question = JSON.stringify([call.operation, filters])
  const from = NextToken === undefined ? 0 : read(call.service, NextToken, question)
  const to = from + Math.min(MaxResults ?? most, most)
  return {
    items: items.slice(from, to),
    NextToken: to < items.length ? Buffer.from(JSON.stringify({ question, to })).toString('base64url') : undefined,
  }
}

function read(service: ServiceName, token: string, question: string): number {
  try {
    const found = JSON.parse(Buffer.from(token, 'base64url').toString()) as { question: string; to: number }
    if (found.question === question) return found.to
  } catch {
    // Handled below.
  }
  refuse(service, 'The pagination token is not one of this list')
}
