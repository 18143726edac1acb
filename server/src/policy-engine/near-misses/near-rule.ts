import { fits, type KeyedScope, type Reaches } from '../deciding/keyed-scope.ts'

/** The three parts of a scope. */
export type Side = 'principal' | 'action' | 'resource'

const everything: KeyedScope = { principal: {}, actions: undefined, resource: {} }

/**
 * The parts of the scope that do not match the question. `asked` is the same question for one resource after another; a scope that
 * matches one of them is enough.
 */
export function missedSides({ principal, actions, resource }: KeyedScope, asked: readonly Reaches[]): Side[] {
  const parts = [
    ['principal', { ...everything, principal }],
    ['action', { ...everything, actions }],
    ['resource', { ...everything, resource }],
  ] as const
  return parts.filter(([, part]) => !asked.some((reaches) => fits(part, reaches))).map(([side]) => side)
}
