import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
mkdirSync("dist", { recursive: true });
cpSync("src", "dist", { recursive: true });
writeFileSync("dist/about.json", JSON.stringify({ name, version }) + "\n");
console.log(`built ${name} ${version}`);
