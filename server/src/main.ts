import { driverTypes } from './app.ts'
import { start } from './start.ts'

start(driverTypes)
