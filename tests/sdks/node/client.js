// What an application in JavaScript does with its SDKs; one line of JSON for each thing tried.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [base, apiKey, model] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey });
const anthropic = new Anthropic({ baseURL: base, apiKey });
const messages = [{ role: "user", content: "What is the weather in Zürich?" }];
const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "weather", parameters } }];

const tried = {
  async chat() {
    const completion = await openai.chat.completions.create({ model, messages });
    return completion.choices[0].message.content;
  },
  async stream() {
    const options = { stream: true, stream_options: { include_usage: true } };
    let text = "", usage = null;
    for await (const chunk of await openai.chat.completions.create({ model, messages, ...options })) {
      text += chunk.choices[0]?.delta?.content ?? "";
      usage = chunk.usage ?? usage;
    }
    return { text, tokens: usage.completion_tokens, cost: usage.cost_usd };
  },
  async tools() {
    const runner = openai.chat.completions.stream({ model, messages, tools });
    const completion = await runner.finalChatCompletion();
    return completion.choices[0].message.tool_calls?.length ?? 0;
  },
  async responses() {
    const response = await openai.responses.create({ model, input: "Hi", store: false });
    let streamed = "";
    for await (const event of await openai.responses.create({ model, input: "Hi", stream: true })) {
      if (event.type === "response.output_text.delta") streamed += event.delta;
    }
    return [response.output_text, streamed];
  },
  async embeddings() {
    const { data } = await openai.embeddings.create({ model: "minilm", input: "a" });
    return data[0].embedding.length;
  },
  async anthropic() {
    const message = await anthropic.messages.stream({ model, max_tokens: 50, messages }).finalMessage();
    return message.content[0].text;
  },
  async error() {
    try {
      await openai.chat.completions.create({ model: "nobody", messages });
    } catch (error) {
      return [error.status, error.code, error.requestID];
    }
  },
};

for (const [name, attempt] of Object.entries(tried)) {
  console.log(JSON.stringify({ [name]: await attempt() }));
}
