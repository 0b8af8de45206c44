// People and places that sites make up, in the task's language: the same index is the same one in both.
"use strict";

const People = (() => {
  const all = {
    en: ["Ada Brandt", "Ben Okoro", "Clara Voss", "Dario Lenz", "Elif Demir", "Femi Adler", "Grace Holm", "Hugo Prins", "Iris Tanaka", "Jonas Weber", "Kira Novak", "Leo Marsh", "Mina Farouk", "Nils Ekman", "Olga Reyes", "Paul Ito", "Rosa Quinn", "Samir Patel", "Tilda Berg", "Uma Clarke", "Viktor Sand", "Wanda Moss", "Yusuf Kaya", "Zoe Lind"],
    zh: ["安雅", "白宇", "陈澜", "戴立", "方怡", "冯伟", "高晴", "韩松", "何清", "江远", "柯蕊", "李明哲", "林可", "马骁", "宁安", "潘乐", "秦岚", "宋杰", "唐雨", "魏然", "吴桐", "许文", "杨帆", "赵欣"],
  };
  const mails = {
    en: all.en.map((name) => name.toLowerCase().replace(" ", ".")),
    zh: ["an.ya", "bai.yu", "chen.lan", "dai.li", "fang.yi", "feng.wei", "gao.qing", "han.song", "he.qing", "jiang.yuan", "ke.rui", "li.mingzhe", "lin.ke", "ma.xiao", "ning.an", "pan.le", "qin.lan", "song.jie", "tang.yu", "wei.ran", "wu.tong", "xu.wen", "yang.fan", "zhao.xin"],
  };
  const cities = {
    en: ["Arnheim", "Bellport", "Corvale", "Dunmore", "Eastwick", "Fairlea", "Glenhaven", "Harrow", "Ilford", "Kelso"],
    zh: ["安陵", "碧港", "清谷", "登云", "东苑", "锦原", "松湾", "河洛", "宜川", "开阳"],
  };
  const names = () => all[TASK.language];
  const mail = (name) => `${mails[TASK.language][Math.max(0, names().indexOf(name))]}@example.org`;
  return { names, cities: () => cities[TASK.language], mail };
})();
