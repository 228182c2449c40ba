/* The lists by which language_of tells languages apart: their function words, and Han characters of Chinese alone. */
#include "words/languages_priv.h"

/* Function words in their normal form, a blank around each; before those that ask something stands a '?'. */
const char *const languages_words[LANGUAGES] = {
    [LANGUAGE_EN] =
        " a about after also an and any are as at be been before between by can could ?did ?do ?does during "
        "for from had has have he her his ?how i if in into is it its long many may might most much my no not "
        "of on only or our shall she should than that the their there they this to was we were ?what ?when "
        "?where ?which ?who ?whom ?whose ?why will with would you your ",
    [LANGUAGE_DE] =
        " als am an auch auf aus bei beim bis bitte ?danke darf das dass dem den der des die durch ein eine "
        "einem einen einer eines er es für gab gegen gibt gross ?guten haben ?hallo hat hatte hatten heisst "
        "hoch ich ihr ihre im in ist kann kein keine können lange man mehr mein meine meinen mich mir mit muss "
        "nach nicht noch nur oder ohne sein seine seit sich sie sind soll sollte um und unter viel viele vom "
        "von vor ?wann war waren ?warum was ?welche ?welchem ?welchen ?welcher ?welches ?wem ?wen wenn ?wer "
        "werden ?weshalb ?wie ?wieso wir wird ?wo wodurch ?wofür ?woher ?wohin ?womit wonach woran worauf "
        "woraus worden worin wovon ?wozu wurde wurden zu zum zur zwischen über ",
    [LANGUAGE_FR] =
        " afin au aux avait avec ?bonjour ?bonsoir ce ces cet cette chez ?combien ?comment dans de depuis des "
        "doit dont du elle elles en entre est et fait faut furent fut il ils je la laquelle le lequel les "
        "leur leurs lors ma ?merci mes mon ne nous on ont ou ?où par pas pendant peut peuvent plus pour "
        "?pourquoi ?qu ?quand que ?quel ?quelle ?quelles quelqu ?quels ?qui quoi sa ?salut sans se selon sera "
        "ses son sont sous sur t-il un une vers vous y y-a étaient était été ",
    [LANGUAGE_ES] =
        " adónde al antes ?buenas ?buenos como con cuando ?cuál ?cuáles ?cuándo ?cuánta ?cuántas ?cuánto "
        "?cuántos ?cómo de debe del desde después donde durante ?dónde el en entre era eran es esa ese esta "
        "estas este estos está están fue fueron ?gracias ha había han hasta hay ?hola la las le les lo los mi "
        "mis muy más no para por porque puede pueden que quien ?quién ?quiénes ?qué se según ser sido sin "
        "sobre son su sus también tiene tienen un una unas unos ya ",
};

/* Simplified characters, and others that Japanese does not use; sorted, three bytes each. */
const char languages_chinese[] = "专业丛东丝丢两严丧丫丰临为丽举么义乌乐乒乓乔习乡书买亏亚产亩亲亿仅仑仓仪"
                                 "们份仿众优伙伞伟传伤伦伪你佣佬侄侗侣侥侦侧侨侩俏俞俩俭俱倘债值倾偷偿傈傣"
                                 "储傻僳兑兰关兴兹养兽冈军农冯冻净减凑几凤凯凳击凿刁划刘则刚创删刨别刽剁剂"
                                 "剐剑剧劝办务动劲劳势勋匀华协单卖卡卢卤卧卫厅历厉压厌厕厢县叁发变叠另叹叼"
                                 "吓吕吗吞吧吨启吱吴吵呐呕员呛呜呢呸咕咖咙咱哆响哎哑哗哟哪哼唁唉唤唬啃啊啡"
                                 "啤啥啦啪啮啸喂喳喷喻嗎嗓嗡嘎嘛嘻嘿噶嚎嚣嚷囊团囤园囱围图圆圣场圾坍块坚坛"
                                 "坝坞坟坠坯坷垃垄垒垛垦垫垮埂堑塌墒墙增墩壳壶处备复够夯头夹夺奋奖奶她妆妇"
                                 "妈妒妮妳姬娄娇娱婴婶媳孙孪孽宁它实宠审宪宫宽宾对寻导尔尘尝尧层屉屿岁岂岗"
                                 "岛岭岿峦崭巢巩币帅师帐帕帘帜带帧帮幂庆庐库应庙庞废开异张弹强归录彤彻很德"
                                 "忆忧怀态怂怎怔总恳恶恼恿您悬悯惊惋惕惦惩惫惭惮惯愤慑憋憨懂懒戏战户扑扒扔"
                                 "扦执扩扫扬扭扯扰扳抚抠抡抢护报抨抿拄拎拖拟拢拣拥拦拧拨择拴拼拽挎挖挚挛挝"
                                 "挞挠挡挣挤挥挪捂捅捆捎捞损捡换捣掂掇掐掳掷掸掺揍揪揭揽搀搁搂搅搐搔搞搪搽"
                                 "摄摆摇摈摊摔摹撂撅撇撑撬撵擎擞攒敌敛斋斩时旷显晌晓晕晚晾暂术朵杀杂权杨极"
                                 "构枣枪枫柒柜柠查栅标栈栋栏树样桅桌桥桨桩梆检棱棵椭榆榨榷槛樱橱欢步歧歼毁"
                                 "每毕毖毗毙毡氖氟氢氦氧氨氮氯氰汇汉汛污汤汹沉沏沟沤沥沦沧沪泞泵泻泼泽洁洱"
                                 "洼浆浇浊测济浑浓涂涉涝涟涡涣涤润涧涨涩涪淄淖渍渐渔渗渴溃溅溉滁滇滚满滤滥"
                                 "滦滨滩漳潍潞澈澜濒灭灵灶灾灿炔炕炼炽烁烂烃烘烛烤烦烧烩烫烬热烯烷焊焕焰煞"
                                 "爱爷爸爹牵牺犊狈狞狮狰狱猎獭玛玫环现珐琐琼瓤甩甭电畅疗疙疟疡疤疮疯痈痉痪"
                                 "痹瘦瘩瘪瘫瘸癣皂皑皱盅盎盏盐监盔盘盯盼眨眯眶睁睬瞄瞅瞒瞧瞩瞪矫矽矾矿码砍"
                                 "砖砚砰砷砸砾础硒硕确硷碉碘碟碰碱碳碴磕磷磺祸离秃秆种积秸秽稳穷窍窑窜窝窥"
                                 "竖竞笔笺笼筛筷筹签简箩篓篙篡篮篱类籽粪糕糙紧纠红纤约级纪纫纬纯纱纲纳纵纶"
                                 "纷纸纹纺纽线练组绅细织终绊绍绎经绑绒结绕绘给绚络绝绞统绢绣绥绦继绩绪续绰"
                                 "绳维绵绷绸综绽绿缀缄缅缆缉缎缓缔缕编缘缚缝缠缨缩缮缴罗罚罢羡翘翟翱耍耪耸"
                                 "聂聋职联聪肃肠肤肮肾肿胀胁胜胰胳胶胺脏脐脑脓脖脸腊腻腾膘膛臃舀舆舔舰舱艰"
                                 "艳艺节芜苇苍苏苯茁茧茬荆荔荚荡荣荤荧荫药莆莲获莹菇菏萝萤营萧萨蓝蓟蔫蔷蔼"
                                 "蕴蘑蘸虏虑虽虾蚀蚁蚂蚜蛀蛊蛰蜕蜗蜡蝇衅衔补衬袄袜袭裤见观规觅视览觉詹誊计"
                                 "订讣认讥讨让讫训议讯记讲讳讶许讹论讼讽设访诀证评诅识诈诉诊诌词译试诗诚诛"
                                 "话诞诡询诣该详诧诫诬语误诱诲说诵请诸诺读诽课谁调谅谆谈谊谋谍谎谐谓谗谚谜"
                                 "谢谣谤谦谨谩谬谭谰谱谴贝贞负贡财责贤败账货质贩贪贫贬购贮贯贰贱贴贵贷贸费"
                                 "贺贼贾贿赁赂赃资赊赋赌赎赏赐赔赖赘赚赛赞赠赡赢赣赵赶趋趟趴跃跑跺踌踢踩蹋"
                                 "蹦蹬蹭蹿躲躺车轧轨轩转轮软轰轴轻载轿较辅辆辈辉辊辐辑输辕辖辗辙辩辫边辽达"
                                 "迁过迈运还这进远违连迟适选逊递這逛逻遗邓邢邮邹邻郑郝郧郴郸酗酚酝酞酮酱酶"
                                 "酿醚醛释鉴针钉钎钒钓钙钝钞钟钠钡钢钥钦钧钨钩钮钱钳钵钻钾铀铁铂铃铅铆铜铝"
                                 "铡铣铬铭铰铱铲银铸铺链销锁锄锅锈锋锌锐锑锗错锚锡锣锤锥锦锨锭键锯锰锹锻镀"
                                 "镁镇镊镍镐镑镜镣镭镰镶长门闪闭问闯闰闲间闷闸闹闺闻闽阀阁阂阅阉阎阐阑阔队"
                                 "阳阴阵阶际陆陇陈陕陡陨险隐难雏雾霉靛靳靶韦韧韩页顶顷项顺须顽顾顿颁颂预颅"
                                 "领颇颈颊颐频颓颖颗题颜额颠颤颧风飘飞饥饭饮饯饰饱饲饵饶饺饼饿馁馅馆馈馋馏"
                                 "馒马驭驮驯驰驱驳驴驶驹驻驼驾骂骄骆骇骋验骏骑骗骚骡骤鬃鱼鲁鲍鲜鲤鲸鳃鳖鳞"
                                 "鸟鸡鸣鸥鸦鸭鸯鸳鸵鸽鸿鹃鹅鹊鹏鹤鹰麼黑齐齿龄龋龙龚龟";
const size_t languages_chinese_count = sizeof languages_chinese / 3;
