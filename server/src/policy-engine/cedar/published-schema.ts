import { type SchemaJson, textEngine } from './engine.ts'
import { approveAction, schemaWith, unnamedAction } from './schema.ts'

/**
 * The schema as published: in Cedar's own notation and as JSON.
 * @param actionIds the actions that the tenant has used; `unnamedAction` stands for every other action.
 */
export function publishedSchema(actionIds: Iterable<string>): { cedar: string; json: SchemaJson<string> } {
  const json = schemaWith([...actionIds, unnamedAction, approveAction])
  const answer = textEngine.use((cedar) => cedar.schemaToText(json))
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message ?? 'the schema does not print')
  return { cedar: answer.text, json }
}
