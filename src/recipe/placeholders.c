/* SPDX-License-Identifier: Apache-2.0 */
/* The placeholders that Assay gives values to. docs/guide/command-templates.md lists them; a test compares. */
#include "recipe/command.h"

static const struct recipe_placeholder PLACEHOLDERS[] = {
    {"engine_args", RECIPE_LIST, RECIPE_FROM_SET, "words of the engine-argument set"},
    {"env", RECIPE_LIST, RECIPE_FROM_PLAN, "NAME=value of the command's whole environment"},
    {"env_names", RECIPE_LIST, RECIPE_FROM_PLAN, "names of the command's whole environment"},
    {"secrets", RECIPE_LIST, RECIPE_FROM_TEMPLATE, "names of the variables that hold secrets"},

    {"host", RECIPE_TEXT, RECIPE_FROM_PLAN, "address the server listens on"},
    {"port", RECIPE_NUMBER, RECIPE_FROM_PLAN, "port the replica plan gave this server"},
    {"replica", RECIPE_NUMBER, RECIPE_FROM_PLAN, "number of the replica, from 0"},
    {"replica_count", RECIPE_NUMBER, RECIPE_FROM_PLAN, "replicas of the plan"},
    {"devices", RECIPE_LIST, RECIPE_FROM_PLAN, "indices of the GPUs of this server on its host"},
    {"device_count", RECIPE_NUMBER, RECIPE_FROM_PLAN, "how many these are"},
    {"device_args", RECIPE_LIST, RECIPE_FROM_PLAN, "words that give a container its GPUs, by vendor"},
    {"container_engine", RECIPE_TEXT, RECIPE_FROM_PLAN, "docker or podman, as the server has it"},
    {"container_name", RECIPE_TEXT, RECIPE_FROM_PLAN, "name of the container, by job and replica"},
    {"node_rank", RECIPE_NUMBER, RECIPE_FROM_PLAN, "number of the host within a server that spans several, from 0"},
    {"node_count", RECIPE_NUMBER, RECIPE_FROM_PLAN, "hosts the server spans"},
    {"head_ip", RECIPE_TEXT, RECIPE_FROM_PLAN, "address of the host with rank 0"},
    {"iface_name", RECIPE_TEXT, RECIPE_FROM_PLAN,
     "network interface between the hosts: interface of the server record"},
    {"is_worker_node", RECIPE_FLAG, RECIPE_FROM_PLAN, "true on hosts with a rank above 0"},
    {"urls", RECIPE_LIST, RECIPE_FROM_PLAN, "one endpoint a replica"},
    {"url", RECIPE_TEXT, RECIPE_FROM_PLAN,
     "the endpoint, when the replica plan has exactly one; tools that take several use {urls}"},
    {"prompts_file", RECIPE_TEXT, RECIPE_FROM_PLAN, "file the prompt source was resolved to, on the worker"},
    {"input_file", RECIPE_TEXT, RECIPE_FROM_PLAN, "manifest of the audio snapshot, on the worker"},
    {"ground_truth_file", RECIPE_TEXT, RECIPE_FROM_PLAN, "reference transcripts of the audio snapshot"},
    {"work_dir", RECIPE_TEXT, RECIPE_FROM_PLAN, "folder of the job, where files of the template lie"},
    {"result_dir", RECIPE_TEXT, RECIPE_FROM_PLAN, "folder the tool writes its results to"},
    {"num_requests", RECIPE_NUMBER, RECIPE_FROM_SCENARIO,
     "requests: request count of the scenario; image generation derives it, max(4, concurrency x 4)"},
    {"job_code", RECIPE_TEXT, RECIPE_FROM_PLAN, "code of the job"},

    {"run_code", RECIPE_TEXT, RECIPE_FROM_RUN, "code of the run"},
    {"seed", RECIPE_NUMBER, RECIPE_FROM_RUN, "seed of the load"},
    {"streaming", RECIPE_FLAG, RECIPE_FROM_RUN, "whether answers are streamed"},
    {"temperature", RECIPE_NUMBER, RECIPE_FROM_RUN, "sampling temperature"},
    {"ignore_eos", RECIPE_FLAG, RECIPE_FROM_RUN, "whether answers go on to their limit"},
    {"request_timeout_s", RECIPE_NUMBER, RECIPE_FROM_RUN, "longest time of a request in seconds"},
    {"warmup_requests", RECIPE_NUMBER, RECIPE_FROM_RUN, "requests that are not measured"},
    {"extra_body", RECIPE_TEXT, RECIPE_FROM_RUN, "JSON object with further members of each request"},

    {"scenario_code", RECIPE_TEXT, RECIPE_FROM_SCENARIO, "code of the scenario"},
    {"concurrency", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "requests in flight"},
    {"request_rate", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "requests a second, for open loops"},
    {"isl", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "tokens of a prompt"},
    {"osl", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "tokens of an answer"},
    {"ramp_up_seconds", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "seconds in which the concurrency rises"},
    {"num_images_batch", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "images of a request"},
    {"image_detail", RECIPE_TEXT, RECIPE_FROM_SCENARIO, "low or high"},
    {"image_size", RECIPE_TEXT, RECIPE_FROM_SCENARIO, "size of generated images, 1024x1024"},
    {"max_image_dimension", RECIPE_NUMBER, RECIPE_FROM_SCENARIO, "longest side images are shrunk to"},

    {"workload_code", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "code of the workload"},
    {"model", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "model_code of the workload"},
    {"served_model", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "name under which the model is served, when it is another"},
    {"quantization", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "quantization of the workload"},
    {"framework_code", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "framework of the workload"},
    {"framework_version", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "version of the framework"},
    {"image", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "container image with its tag or digest"},
    {"language", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "language of the recordings"},
    {"response_format", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "format of the answers"},
    {"num_inference_steps", RECIPE_NUMBER, RECIPE_FROM_WORKLOAD, "steps of image generation"},
    {"guidance_scale", RECIPE_NUMBER, RECIPE_FROM_WORKLOAD, "guidance of image generation"},
    {"negative_prompt", RECIPE_TEXT, RECIPE_FROM_WORKLOAD, "what images are not to show"},

    {"hostname", RECIPE_TEXT, RECIPE_FROM_SERVER, "hostname of the server"},
    {"gpu_class", RECIPE_TEXT, RECIPE_FROM_SERVER, "GPU class of the server"},
    {"model_cache", RECIPE_TEXT, RECIPE_FROM_SERVER, "folder of downloaded models on the server"},
};

const struct recipe_placeholder *recipe_placeholders(size_t *ret_count)
{
    *ret_count = sizeof(PLACEHOLDERS) / sizeof(PLACEHOLDERS[0]);
    return PLACEHOLDERS;
}

const struct recipe_placeholder *recipe_placeholder(const char *name)
{
    for (size_t i = 0; i < sizeof(PLACEHOLDERS) / sizeof(PLACEHOLDERS[0]); i++)
        if (strcmp(PLACEHOLDERS[i].name, name) == 0)
            return &PLACEHOLDERS[i];
    return NULL;
}

const char *recipe_layer_name(enum recipe_layer layer)
{
    static const char *const names[RECIPE_LAYER_COUNT] = {"plan",   "run", "scenario", "workload",
                                                          "server", "set", "template"};
    return names[layer];
}
