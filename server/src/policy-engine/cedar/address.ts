/** The addresses that a condition tests. */
import type { Expr } from './engine.ts'
import { attributeOf, formOf } from './expression.ts'

/** The networks, as written, of a condition that tests only `context.source_ip`; undefined for any other. */
export function networksOf(body: Expr): string[] | undefined {
  const { operator, operands, row } = formOf(body)
  const [left, right] = operator === 'isInRange' ? row : [operands.left, operands.right]
  const { arg } = operands
  if (operator === '!' && arg !== undefined) return networksOf(arg)
  if (left === undefined || right === undefined) return undefined
  if (operator === '==' || operator === 'isInRange') return networkOf(left, right)
  if (operator !== '&&' && operator !== '||') return undefined
  const [one, other] = [networksOf(left), networksOf(right)]
  return one && other && [...one, ...other]
}

function networkOf(address: Expr, network: Expr): string[] | undefined {
  const { operator, row } = formOf(network)
  if (attributeOf(address, 'context') !== 'source_ip' || operator !== 'ip') return undefined
  const [argument] = row
  return argument !== undefined && 'Value' in argument ? [String(argument.Value)] : undefined
}

/** The first address of a network. */
export function firstAddress(network: string): string {
  return network.split('/', 1)[0] ?? ''
}

/** Addresses reserved for documentation (RFC 5737, RFC 3849): they stand for any other network. */
export const strangers = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1'] as const
