import { fits, type KeyedScope, type Reaches } from '../deciding/rule-index.ts'

/** What a scope speaks of, in three parts. */
export type Side = 'principal' | 'action' | 'resource'

const everything: KeyedScope = { principal: {}, actions: undefined, resource: {} }

/**
 * The parts of the scope that do not speak of what is asked. `asked` is the same question about one resource after the other:
 * it is enough if the scope speaks of one.
 */
export function missedSides({ principal, actions, resource }: KeyedScope, asked: readonly Reaches[]): Side[] {
  const parts = [
    ['principal', { ...everything, principal }],
    ['action', { ...everything, actions }],
    ['resource', { ...everything, resource }],
  ] as const
  return parts.filter(([, part]) => !asked.some((reaches) => fits(part, reaches))).map(([side]) => side)
}
