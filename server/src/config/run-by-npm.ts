/** Whether npm runs this process, as for `npm start`: then a shell stands between them, which does not pass signals on. */
export function isRunByNpm(env: NodeJS.ProcessEnv = process.env): boolean {
  return env.npm_lifecycle_event !== undefined
}
