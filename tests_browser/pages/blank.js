import { startPython } from "/shared/loader.js";
import { answerTests } from "./answer_tests.js";

answerTests(startPython());
