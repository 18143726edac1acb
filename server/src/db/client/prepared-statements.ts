import type pg from 'pg'
import { types } from './connect.ts'

/** The columns of a statement's rows, and the parser of each. */
export type RowShape = { readonly names: readonly string[]; readonly parsers: readonly ((text: string) => unknown)[] }

export const noRows: RowShape = { names: [], parsers: [] }

/** The maximum number of prepared statements on one connection: each costs the server some kilobytes. */
const maxStatements = 500

export function shapeOf(fields: readonly pg.FieldDef[]): RowShape {
  return {
    names: fields.map(({ name }) => name),
    parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text')),
  }
}

/** One row. Of two columns with the same name, the last one counts. @throws the error of a parser. */
export function readRow(texts: readonly (string | null)[], { names, parsers }: RowShape): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < names.length; index++) {
    const text = texts[index] as string | null
    row[names[index] as string] = text === null ? null : parsers[index]?.(text)
  }
  return row
}

/** The statements that the server has prepared on one connection, by their name there, each with the shape of its rows. */
export class PreparedStatements {
  #shapes = new Map<string, RowShape>()
  #evicted: string[] = []

  shapeOf(name: string): RowShape | undefined {
    return this.#shapes.get(name)
  }

  add(name: string, shape: RowShape): void {
    this.#shapes.set(name, shape)
    if (this.#shapes.size <= maxStatements) return
    const [oldest = ''] = this.#shapes.keys()
    this.#shapes.delete(oldest)
    this.#evicted.push(oldest)
  }

  /** For a statement that the server may have closed. */
  forget(name: string): void {
    this.#shapes.delete(name)
  }

  clear(): void {
    this.#shapes.clear()
  }

  /** The statements to close at the server: the oldest of too many. Each is returned once. */
  takeEvicted(): readonly string[] {
    if (this.#evicted.length === 0) return this.#evicted
    const evicted = this.#evicted
    this.#evicted = []
    return evicted
  }
}
