import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { accountStage, bucketStage, cuttingStage } from '../../../test/support/aws-stage.ts'
import { testDatabase } from '../../../test/support/database.ts'

const db = await testDatabase()
const [ofTheHouse, cutting, ofItsOwn] = [await accountStage(db), await cuttingStage(db), await bucketStage(db)]
driverConformance('AWS IAM Identity Center, with existing permission sets,', () => Promise.resolve(ofTheHouse))
driverConformance('AWS IAM Identity Center, with sessions cut at the end,', () => Promise.resolve(cutting))
driverConformance('AWS IAM Identity Center, with own permission sets,', () => Promise.resolve(ofItsOwn))
