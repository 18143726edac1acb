import type { Statement } from '../../src/kernel/context.ts'

/** A statement from a text that was put together: the flaw that the type `Statement` keeps out of the service. */
export function rawStatement(text: string): Statement {
  return { text, values: [] } as unknown as Statement
}
